# ruff: noqa: RUF001  # words of other scripts, whose letters resemble Latin ones
"""Nods, thanks and greetings in other languages than English, and words that urge on."""

from __future__ import annotations

OTHER_LANGUAGES = """
    abend alles ausgezeichnet bis bitte bitteschön danke dankeschön dann das doch du einfach es genau gern gerne
    gut guten hallo klar klasse los mach mache machen mal moin morgen nein nee nö na okay passt perfekt prima
    schön sehr so stimmt super tag tschüss ja jawohl jo jep leg toll vielen dank weiter weitermachen wunderbar

    accord adieu allez alors au aussi beaucoup bien bon bonjour bonsoir c'est continue continuez d'accord entendu
    excellent génial merci non ok oui ouais parfait plaît revoir s'il salut suite super très va vas-y vous

    adelante adiós buenas buenos bueno bien claro continúa continua correcto de días dale eso favor genial gracias
    hola listo muchas noches perfecto por salud seguir sigue sí si tardes vale venga vamos

    avanti bene benissimo buongiorno certo ciao continua d'accordo fatto favore grazie grazie mille no perfetto
    per prego procedi sì va

    adiante bom certo continue dia obrigada obrigado olá ótimo perfeito pode por favor sim segue tudo

    akkoord bedankt dank doorgaan ga goed goedemorgen graag hoi ja je nee prima verder wel

    dalej dobra dobrze dziękuję dzięki kontynuuj nie proszę super świetnie tak witam

    tack ja nej bra fortsätt tak nej fortsæt hej takk fortsett kiitos joo kyllä jatka

    evet hayır tamam teşekkürler teşekkür ederim devam et lütfen merhaba

    да нет спасибо большое хорошо ладно ок окей отлично супер давай продолжай продолжайте дальше пожалуйста привет
    здравствуйте понятно понял верно ага угу так дякую продовжуй

    نعم لا شكرا شكراً حسنا حسناً تمام ممتاز استمر تابع أكمل مرحبا جزيلا جزيلاً כן לא תודה רבה בסדר מעולה המשך
    תמשיך שלום בבקשה ναι όχι ευχαριστώ εντάξει συνέχισε γεια 네 예
    아니요 아니오 감사합니다 고마워 고마워요 고맙습니다 좋아 좋아요 계속 계속해 계속해줘
    계속해주세요 안녕하세요 알겠습니다 응 धन्यवाद हाँ हां नहीं ठीक है जारी रखें नमस्ते
"""
"""A paragraph for each family of languages."""

WITHOUT_SPACES = """
    好的 好 好吧 是的 是 对的 对 行 嗯 可以 没问题 谢谢你 谢谢 多谢 感谢 请 继续吧 继续 下一步 不用了
    不用 不是 不 你好 早上好 再见 明白了 明白 知道了 了解 开始吧 开始 提交吧 提交 完美 太好了 太棒了 棒
    提交代码 好啊 謝謝你 謝謝 請 繼續 對的 對 沒問題 開始 下一個 下一个 はい うん ええ いいえ お願いします
    おねがいします お願い ありがとうございます ありがとうございました ありがとう どうも 続けてください 続けて 続き
    次へ 次 次に進んで 進めてください 進めて 了解です 了解で 了解しました わかりました 分かりました こんにちは
    おはようございます おはよう 完璧です 完璧で いいですね いいね 大丈夫です 大丈夫で どうぞ コミットして そうです
    ขอบคุณครับ ขอบคุณค่ะ ขอบคุณ ใช่ ครับ ค่ะ ต่อไป สวัสดี
"""
"""In scripts that write words without spaces between them: a prompt may be several of these in a row."""
