"""Rust, Go and .NET: Cargo.toml, go.mod, and C# projects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.dependencies import CRATES, GO, NUGET, frameworks
from kiro_learn.learning.profile.texts import FileText, Folder, named, table, version
from kiro_learn.model.profile import ProfileFact, Slot

_GO_LINE = re.compile(r"go\s+(\d[\w.]*)\s*")
_GO_REQUIRED = re.compile(r"\s*(?:require\s+)?([\w-]+(?:\.[\w-]+)+/[\w./-]+)\s+v(\d[\w.+-]*)")
_FRAMEWORK = re.compile(r"net(\d+\.\d+)(?:-\w+)?")


def rust(folder: Folder) -> Iterator[ProfileFact]:
    """What Cargo.toml and the files beside it say."""
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
    """What go.mod and the files beside it say."""
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
    """What the C# projects and the file of the SDK say."""
    projects = [*folder.files_in("", ".csproj"), *folder.files_in("src/", ".csproj"), *_below(folder)]
    solution = next(iter(folder.files_in("", ".sln")), None)
    file = projects[0] if projects else solution
    if file is None:
        return
    if sdk := folder.file("global.json"):
        found = version(table(sdk.json(), "sdk").get("version"))
        yield from sdk.facts(Slot.LANGUAGE, named(".NET SDK", found), sdk.line_of(r'"version"'))
    told: set[str] = set()
    has_tests = is_web = False
    for project in projects:
        for fact in _of_project(project):
            if fact.value not in told:
                told.add(fact.value)
                yield fact
        has_tests |= "Microsoft.NET.Test.Sdk" in project.text
        is_web |= "Microsoft.NET.Sdk.Web" in project.text
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
    """The C# projects one folder below, as they lie beside a solution, and in the folders of ``src`` and ``tests``."""
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
