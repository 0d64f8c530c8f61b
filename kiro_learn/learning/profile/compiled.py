"""Reads the manifests and build files of Rust, Go, .NET, Java and Kotlin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import FileText, Folder, named, table, version
from kiro_learn.learning.profile.places import CRATES, GO, MAVEN, NUGET, frameworks
from kiro_learn.model.profile import ProfileFact, Slot

_GO_LINE = re.compile(r"go\s+(\d[\w.]*)\s*")
_GO_REQUIRED = re.compile(r"\s*(?:require\s+)?([\w-]+(?:\.[\w-]+)+/[\w./-]+)\s+v(\d[\w.+-]*)")
_FRAMEWORK = re.compile(r"net(\d+\.\d+)(?:-\w+)?")


def rust(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from Cargo.toml and the files next to it."""
    file = folder.file("Cargo.toml")
    if file is None:
        return
    cargo = file.toml()
    shared = table(cargo, "workspace", "package")
    package = {**shared, **{name: value for name, value in table(cargo, "package").items() if isinstance(value, str)}}
    edition, least = package.get("edition"), version(package.get("rust-version"))
    if least:
        yield from file.facts(Slot.LANGUAGE, f"Rust >={least}", file.line_of(r"^\s*rust-version\s*="))
    edition_text = f"Rust (edition {edition})" if isinstance(edition, str) else "Rust"
    yield from file.facts(Slot.LANGUAGE, edition_text, file.line_of(r"^\s*edition\s*=") or file.line_of(r"^\["))
    crates = {**table(cargo, "workspace", "dependencies"), **table(cargo, "dependencies")}
    versions = {
        name: version(given.get("version") if isinstance(given, dict) else given) for name, given in crates.items()
    }
    yield from frameworks(file, versions, CRATES, lambda name: file.line_of(rf"^\s*{re.escape(name)}\b"))
    yield from file.facts(Slot.MANAGER, "Cargo")
    yield from file.facts(Slot.ADD, "cargo add NAME", is_usual=True)
    yield from file.facts(Slot.BUILD, "cargo build", is_usual=True)
    yield from file.facts(Slot.TEST, "cargo test", is_usual=True)
    lints = folder.file("clippy.toml", ".clippy.toml")
    if lints or "clippy" in table(cargo, "lints") or "clippy" in table(cargo, "workspace", "lints"):
        yield from (lints or file).facts(Slot.LINT, "cargo clippy", is_usual=True)
    if formats := folder.file("rustfmt.toml", ".rustfmt.toml"):
        yield from formats.facts(Slot.FORMAT, "cargo fmt", is_usual=True)
    if folder.has("src/main.rs") or isinstance(cargo.get("bin"), list):
        yield from file.facts(Slot.RUN, "cargo run", is_usual=True)


def go(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from go.mod and the files next to it."""
    file = folder.file("go.mod")
    if file is None:
        return
    versions: dict[str, str] = {}
    lines: dict[str, int] = {}
    language = ("Go", 0)
    for number, line in enumerate(file.text.splitlines(), 1):
        if match := _GO_LINE.fullmatch(line.partition("//")[0]):
            language = (f"Go {match[1]}", number)
        elif (match := _GO_REQUIRED.match(line)) and "// indirect" not in line:
            versions[match[1]], lines[match[1]] = match[2], number
    yield from file.facts(Slot.LANGUAGE, *language)
    yield from frameworks(file, versions, GO, lambda name: lines[name])
    yield from file.facts(Slot.MANAGER, "Go modules")
    yield from file.facts(Slot.INSTALL, "go mod download", is_usual=True)
    yield from file.facts(Slot.ADD, "go get NAME", is_usual=True)
    yield from file.facts(Slot.BUILD, "go build ./...", is_usual=True)
    yield from file.facts(Slot.TEST, "go test ./...", is_usual=True)
    if config := folder.file(".golangci.yml", ".golangci.yaml", ".golangci.toml"):
        yield from config.facts(Slot.LINT, "golangci-lint run", is_usual=True)
    if folder.has("main.go"):
        yield from file.facts(Slot.RUN, "go run .", is_usual=True)


def dotnet(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from the C# projects and from the SDK's file."""
    found = (*folder.files_in("", ".csproj"), *folder.files_in("src/", ".csproj"), *_below(folder))
    projects = list({project.path: project for project in found}.values())
    solution = next(iter(folder.files_in("", ".sln")), None)
    file = projects[0] if projects else solution
    if file is None:
        return
    if sdk := folder.file("global.json"):
        number = version(table(sdk.json(), "sdk").get("version"))
        yield from sdk.facts(Slot.LANGUAGE, named(".NET SDK", number), sdk.line_of(r'"version"'))
    told: set[str] = set()
    has_tests = False
    for project in projects:
        for fact in _of_project(project):
            if fact.value not in told:
                told.add(fact.value)
                yield fact
        has_tests |= "Microsoft.NET.Test.Sdk" in project.text
    yield from file.facts(Slot.MANAGER, "NuGet")
    yield from file.facts(Slot.INSTALL, "dotnet restore", is_usual=True)
    yield from file.facts(Slot.ADD, "dotnet add package NAME", is_usual=True)
    yield from (solution or file).facts(Slot.BUILD, "dotnet build", is_usual=True)
    if has_tests:
        yield from (solution or file).facts(Slot.TEST, "dotnet test", is_usual=True)
    web = [project for project in projects if "Microsoft.NET.Sdk.Web" in project.text]
    if len(web) == 1:
        place = web[0].path.removeprefix(folder.prefix).rpartition("/")[0]
        yield from web[0].facts(Slot.RUN, f"dotnet run --project {place}" if place else "dotnet run", is_usual=True)


def _below(folder: Folder) -> list[FileText]:
    """The C# projects in folders below, as they lie next to a solution and in ``src`` and ``tests``."""
    paths = sorted(path for path in folder.files if path.startswith(folder.prefix) and path.endswith(".csproj"))
    return [FileText(path, folder.files[path]) for path in paths if "/" in path.removeprefix(folder.prefix)]


def _of_project(file: FileText) -> Iterator[ProfileFact]:
    root = file.xml()
    if root is None:
        return
    framework = next((each.text or "" for each in root.iter("TargetFramework")), "").strip()
    if match := _FRAMEWORK.fullmatch(framework):
        yield from file.facts(Slot.LANGUAGE, f"C# (.NET {match[1]})", file.line_of("<TargetFramework>"))
    if root.get("Sdk") == "Microsoft.NET.Sdk.Web":
        yield from file.facts(Slot.FRAMEWORK, "ASP.NET Core", file.line_of("Microsoft.NET.Sdk.Web"))
    packages = {each.get("Include", ""): version(each.get("Version")) for each in root.iter("PackageReference")}
    yield from frameworks(file, packages, NUGET, lambda name: file.line_of(rf'"{re.escape(name)}"'))


# Java and Kotlin: pom.xml, and the build files of Gradle.

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
"""The tasks that Gradle plugins add."""

_JAVA_PROPERTIES = ("maven.compiler.release", "java.version", "maven.compiler.source", "maven.compiler.target")


def maven(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from pom.xml."""
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
        if each.findtext("groupId") != "org.testcontainers"  # its modules have the names of what they run
    }
    yield from frameworks(file, versions, MAVEN, lambda name: file.line_of(rf"<artifactId>{re.escape(name)}<"))
    yield from file.facts(Slot.MANAGER, "Maven")
    call = "./mvnw" if folder.has("mvnw") else "mvn"
    yield from file.facts(Slot.BUILD, f"{call} package", is_usual=True)
    yield from file.facts(Slot.TEST, f"{call} test", is_usual=True)
    if is_boot or any(each.text == "spring-boot-maven-plugin" for each in root.iter("artifactId")):
        yield from file.facts(Slot.RUN, f"{call} spring-boot:run", is_usual=True)


def gradle(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from Gradle's build file and wrapper."""
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
