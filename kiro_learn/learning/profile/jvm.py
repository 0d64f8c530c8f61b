"""Java and Kotlin: pom.xml, and the build files of Gradle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.dependencies import MAVEN, frameworks
from kiro_learn.learning.profile.texts import FileText, Folder, named, version
from kiro_learn.model.profile import ProfileFact, Slot

_GRADLE_VERSION = re.compile(r"gradle-(\d[\w.]*?)-(?:bin|all)\.zip")
_PLUGIN = re.compile(
    r"^[ \t]*(?:(application|java|java-library|checkstyle)[ \t]*$"
    r"|id\s*(?:\(\s*)?[\"']([\w.-]+)[\"'](?:\s*\))?|kotlin\s*\(\s*[\"'](\w+)[\"']\s*\))"
    r"(?:\s*version\s*(?:\(\s*)?[\"']([\w.-]+)[\"'])?",
    re.MULTILINE,
)
_JAVA = re.compile(
    r"(?:JavaLanguageVersion\.of\(\s*|jvmToolchain\(\s*|(?:sourceCompatibility|targetCompatibility)\s*(?:=\s*)?[\"']?"
    r"(?:JavaVersion\.VERSION_)?)(\d[\d_.]{0,5})"
)
_DEPENDENCY = re.compile(r"[\"'][\w.-]+:([\w.-]+)(?::([\w.-]+))?[\"']")
_CALLS = {
    "com.diffplug.spotless": (Slot.FORMAT, "spotlessApply"),
    "org.jlleitschuh.gradle.ktlint": (Slot.LINT, "ktlintCheck"),
    "io.gitlab.arturbosch.detekt": (Slot.LINT, "detekt"),
    "checkstyle": (Slot.LINT, "checkstyleMain"),
    "org.springframework.boot": (Slot.RUN, "bootRun"),
    "application": (Slot.RUN, "run"),
    "io.quarkus": (Slot.RUN, "quarkusDev"),
}
"""The tasks that plugins of Gradle bring."""

_JAVA_PROPERTIES = ("maven.compiler.release", "java.version", "maven.compiler.source", "maven.compiler.target")


def maven(folder: Folder) -> Iterator[ProfileFact]:
    """What pom.xml says."""
    file = folder.file("pom.xml")
    root = file.xml() if file else None
    if file is None or root is None:
        return
    properties = {each.tag: (each.text or "").strip() for part in root.findall("properties") for each in part}
    by = next((name for name in _JAVA_PROPERTIES if version(properties.get(name))), "")
    is_kotlin = any("kotlin-maven-plugin" in (each.text or "") for each in root.iter("artifactId"))
    java = named("Java", version(properties[by])) if by else "Java"
    if is_kotlin:
        kotlin = version(properties.get("kotlin.version"))
        yield from file.facts(Slot.LANGUAGE, named("Kotlin", kotlin), file.line_of("kotlin"))
    yield from file.facts(Slot.LANGUAGE, java, file.line_of(f"<{re.escape(by)}>") if by else 0)
    parent = root.find("parent")
    is_boot = parent is not None and parent.findtext("artifactId") == "spring-boot-starter-parent"
    if parent is not None and is_boot:
        boot = version(parent.findtext("version"))
        yield from file.facts(Slot.FRAMEWORK, named("Spring Boot", boot), file.line_of("spring-boot-starter-parent"))
    versions = {
        each.findtext("artifactId", ""): version(each.findtext("version"))
        for each in root.iter("dependency")
        if each.findtext("groupId") != "org.testcontainers"  # its modules are called as what they run
    }
    yield from frameworks(file, versions, MAVEN, lambda name: file.line_of(rf"<artifactId>{re.escape(name)}<"))
    yield from file.facts(Slot.MANAGER, "Maven")
    call = "./mvnw" if folder.has("mvnw") else "mvn"
    yield from file.facts(Slot.BUILD, f"{call} package", is_usual=True)
    yield from file.facts(Slot.TEST, f"{call} test", is_usual=True)
    if is_boot or any(each.text == "spring-boot-maven-plugin" for each in root.iter("artifactId")):
        yield from file.facts(Slot.RUN, f"{call} spring-boot:run", is_usual=True)


def gradle(folder: Folder) -> Iterator[ProfileFact]:
    """What the build file of Gradle and its wrapper say."""
    file = folder.file("build.gradle.kts", "build.gradle")
    if file is None:
        return
    plugins = {_plugin(match): (match[4] or "", _line(file, match)) for match in _PLUGIN.finditer(file.text)}
    yield from _gradle_languages(file, plugins)
    if "org.springframework.boot" in plugins:
        found, line = plugins["org.springframework.boot"]
        yield from file.facts(Slot.FRAMEWORK, named("Spring Boot", version(found)), line)
    versions = {match[1]: version(match[2]) for match in _DEPENDENCY.finditer(file.text)}
    yield from frameworks(file, versions, MAVEN, lambda name: file.line_of(rf":{re.escape(name)}\b"))
    wrapper = folder.file("gradle/wrapper/gradle-wrapper.properties")
    of_wrapper = _GRADLE_VERSION.search(wrapper.text) if wrapper else None
    if wrapper and of_wrapper:
        yield from wrapper.facts(Slot.MANAGER, f"Gradle {of_wrapper[1]}", _line(wrapper, of_wrapper))
    else:
        yield from file.facts(Slot.MANAGER, "Gradle")
    call = "./gradlew" if folder.has("gradlew") else "gradle"
    yield from file.facts(Slot.BUILD, f"{call} build", is_usual=True)
    yield from file.facts(Slot.TEST, f"{call} test", is_usual=True)
    for plugin, (slot, task) in _CALLS.items():
        if plugin in plugins:
            yield from file.facts(slot, f"{call} {task}", plugins[plugin][1], is_usual=True)


def _gradle_languages(file: FileText, plugins: dict[str, tuple[str, int]]) -> Iterator[ProfileFact]:
    for plugin in ("kotlin-jvm", "org.jetbrains.kotlin.jvm", "org.jetbrains.kotlin.android", "kotlin-android"):
        if plugin in plugins:
            found, line = plugins[plugin]
            yield from file.facts(Slot.LANGUAGE, named("Kotlin", version(found)), line)
            break
    java = _JAVA.search(file.text)
    if java:
        number = java[1].replace("_", ".").removeprefix("1.").rstrip(".")
        yield from file.facts(Slot.LANGUAGE, f"Java {number}", _line(file, java))
    elif "java" in plugins or "java-library" in plugins:
        yield from file.facts(Slot.LANGUAGE, "Java")


def _plugin(match: re.Match[str]) -> str:
    return match[1] or match[2] or f"kotlin-{match[3]}"


def _line(file: FileText, match: re.Match[str]) -> int:
    return file.text.count("\n", 0, match.end()) + 1
