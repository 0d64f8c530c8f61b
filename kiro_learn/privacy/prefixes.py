"""Secrets with a prefix given by their issuer and a run of letters and digits behind it, one row a kind.

Rules of this file: a prefix ends with one of ``_-.``, and at least 16 letters or digits follow it at once, so that all
rows are looked for by one search (``Form.PREFIXED``). What is not of this form is in ``shapes.py``. Which services are
here and which are not, and why, stands in ``docs/privacy.md``.
"""

from __future__ import annotations

import re

from kiro_learn.privacy.kind import Form, Kind, beginning_a_word

_AGE = "https://github.com/C2SP/C2SP/blob/main/age.md"
_GITHUB = "https://github.blog/engineering/behind-githubs-new-authentication-token-formats/"
_GITLEAKS = "https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml"
_HUGGING_FACE = "https://huggingface.co/docs/hub/security-tokens"
_SHOPIFY = "https://shopify.dev/changelog/length-of-the-shopify-access-token-is-increasing"
_STRIPE = "https://docs.stripe.com/keys"

_ALPHANUMERIC = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"


def _prefixed(name: str, prefixes: str, rest: str, documented: str, *, is_word: bool = False) -> Kind:
    """A secret that begins with one of ``prefixes``; with ``is_word``, not in the middle of a word."""
    listed = prefixes.split()
    beginning = "|".join(map(beginning_a_word if is_word else re.escape, listed))
    return Kind(
        name,
        tuple(prefix.lower() for prefix in listed),
        re.compile(f"()(?:{beginning}){rest}", re.ASCII),
        documented,
        form=Form.PREFIXED,
    )


PREFIXES: tuple[Kind, ...] = (
    _prefixed("age-key", "AGE-SECRET-KEY- AGE-SECRET-KEY-PQ-", "1[A-Z0-9]{50,}+", _AGE),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{64,}}+", _GITLEAKS),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", "[0-9a-fA-F]{32,}+", _SHOPIFY),
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{_ALPHANUMERIC}{{36,}}+", _GITHUB),
    _prefixed("github-token", "github_pat_", rf"{_ALPHANUMERIC}{{16}}\w{{20,}}+", _GITHUB),
    _prefixed(
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        f"{_ALPHANUMERIC}{{16,}}+",
        _STRIPE,
    ),
    _prefixed(
        "npm-token", "npm_", f"{_ALPHANUMERIC}{{36,}}+", "https://docs.npmjs.com/about-access-tokens", is_word=True
    ),
    _prefixed("huggingface-token", "hf_", f"{_ALPHANUMERIC}{{34,}}+", _HUGGING_FACE, is_word=True),
    _prefixed(
        "openrouter-key", "sk-or-v1-", f"{_HEX}{{64,}}+", "https://openrouter.ai/docs/api-reference/authentication"
    ),
    _prefixed("groq-key", "gsk_", f"{_ALPHANUMERIC}{{40,}}+", _GITLEAKS, is_word=True),
    _prefixed("xai-key", "xai-", f"{_ALPHANUMERIC}{{70,}}+", "https://docs.x.ai", is_word=True),
    _prefixed("perplexity-key", "pplx-", f"{_ALPHANUMERIC}{{40,}}+", _GITLEAKS, is_word=True),
    _prefixed("replicate-token", "r8_", f"{_ALPHANUMERIC}{{37,}}+", "https://replicate.com/docs", is_word=True),
    _prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", f"{_HEX}{{32}}_{_HEX}{{10,}}+", _GITLEAKS),
    _prefixed("grafana-token", "glsa_", f"{_ALPHANUMERIC}{{32}}_[0-9A-Fa-f]{{8,}}+", _GITLEAKS),
    _prefixed("grafana-token", "glc_", "eyJ[A-Za-z0-9+/=]{32,}+", _GITLEAKS, is_word=True),
    _prefixed("sentry-token", "sntryu_ sntrys_", r"[\w+/=]{64,}+", _GITLEAKS),
    _prefixed("onepassword-token", "ops_", r"eyJ[\w+/=-]{200,}+", _GITLEAKS, is_word=True),
    _prefixed("linear-key", "lin_api_ lin_oauth_", f"{_ALPHANUMERIC}{{40,}}+", _GITLEAKS),
    _prefixed("notion-token", "ntn_", rf"\d{{11}}{_ALPHANUMERIC}{{35,}}+", _GITLEAKS, is_word=True),
    _prefixed("postman-key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34,}}+", _GITLEAKS),
    _prefixed("rubygems-key", "rubygems_", f"{_HEX}{{48,}}+", _GITLEAKS),
    _prefixed("pulumi-token", "pul-", f"{_HEX}{{40,}}+", _GITLEAKS, is_word=True),
    _prefixed("new-relic-key", "NRAK-", "[A-Z0-9]{27,}+", _GITLEAKS),
    _prefixed(
        "dynatrace-token", "dt0c01. dt0s01. dt0s02.", rf"{_ALPHANUMERIC}{{24}}\.{_ALPHANUMERIC}{{64,}}+", _GITLEAKS
    ),
    _prefixed("brevo-key", "xkeysib- xsmtpsib-", f"{_HEX}{{64}}-{_ALPHANUMERIC}{{16,}}+", _GITLEAKS),
    _prefixed("supabase-token", "sbp_", f"{_HEX}{{40,}}+", "https://supabase.com/docs/reference/api", is_word=True),
    _prefixed("netlify-token", "nfp_", f"{_ALPHANUMERIC}{{36,}}+", "https://docs.netlify.com", is_word=True),
)
