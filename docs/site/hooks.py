"""MkDocs hooks: the repository's pages as one site, from where they stand.

A page is the Markdown that a forge shows: its links lead to other pages, to files of the repository
and to folders. Here a file that a page links to becomes a page with its text, and a folder a list
of its pages. API pages are made from docstrings by griffe. Nothing of this is written to disk but
the site.
"""

import logging
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import tripyapi
import tripybuild

ROOT = Path(__file__).resolve().parents[2]
LOG = logging.getLogger("mkdocs.hooks")
FOLDERS = ("docs", "generated/docs")
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[#)])")
CODE = re.compile(r"(^( *)(`{3,}).*?^\2\3$|`[^`]*`)", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^# `?(.+?)`?$", re.MULTILINE)
LANGUAGES = {".yaml": "yaml", ".py": "python", ".md": "markdown", ".txt": "text"}
REST = "docs/*.md"


def page_paths() -> list[str]:
    """The pages of the repository, from its root."""
    found = sorted(ROOT.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((ROOT / folder).rglob("*.md"))
    return [path.relative_to(ROOT).as_posix() for path in found]


def prose(text: str) -> str:
    """A page without its code."""
    return CODE.sub("", text)


def link_targets(path: str, text: str) -> Iterator[str]:
    """What the links of a page lead to, from the root of the repository."""
    for target in LINK.findall(prose(text)):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def heading(path: Path) -> str:
    """The title of a page: its first heading."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(line.lstrip("# ") for line in lines if line.startswith("# "))


def address(path: str) -> str:
    """Where the site has a page: `docs/guide.md` is at `guide/`."""
    name = path.removesuffix(".md").removesuffix("/index").removesuffix("README").lower()
    for folder, place in (("generated/docs/", "reference/"), ("docs/", "")):
        name = place + name.removeprefix(folder) if name.startswith(folder) else name
    return posixpath.join(name, "index.html")


def slug(text: str, separator: str) -> str:
    """The anchor of a heading, as forges have it."""
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", separator)


def api_pages() -> dict[str, str]:
    """Directives for griffe: the functions of `tripybuild`; of `tripyapi`, all but operators.

    Operators have pages of their own, with their laws.
    """
    names = sorted(set(tripyapi.__all__) - {"types"})
    places = tripyapi._PLACES  # noqa: SLF001 - where generated code keeps what is imported lazily
    own = [each for each in names if not places.get(each, "").startswith("tripyapi.ops")]
    groups = {
        "tripybuild": ("Compile, load, export and generate, from Python.", tripybuild.__all__),
        "tripyapi": ("Tensors, modules and `tp.compile`.", own),
    }
    pages = {}
    for package, (about, members) in groups.items():
        shown = [each for each in members if each[0] != "_"]
        listed = "".join(f"::: {package}.{each}\n\n" for each in shown)
        pages[f"generated/docs/api/{package}.md"] = f"# `{package}`\n\n{about}\n\n{listed}"
    return pages


def source_page(path: str) -> str:
    """A file of the repository as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"# {Path(path).name}\n\n`{path}`\n\n````{language}\n{text.rstrip()}\n````\n"


def folder_page(path: str) -> str:
    """The pages of a folder, listed by their titles."""
    listed = [f"- [{heading(each)}]({each.name})" for each in sorted((ROOT / path).glob("*.md"))]
    text = "\n".join(listed)
    return f"# {Path(path).name.capitalize()}\n\n{text}\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Anchors are those of a forge; the rest of the pages goes where the navigation says so."""
    config.mdx_configs["toc"] = {"slugify": slug, "permalink": True}
    config.nav = list(with_rest(config.nav, navigation_paths(config.nav)))
    return config


def navigation_paths(nav: object) -> list[str]:
    """All pages that a navigation names."""
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [path for each in inner for path in navigation_paths(each)]


def with_rest(nav: list, named: list[str]) -> Iterator[object]:
    """The navigation with all pages of `docs/` that have no place, where it says `docs/*.md`."""
    for each in nav:
        if each == REST:
            yield from (path.relative_to(ROOT).as_posix() for path in rest_of_pages(named))
        elif isinstance(each, dict):
            lists = {
                k: v if isinstance(v, str) else list(with_rest(v, named)) for k, v in each.items()
            }
            yield lists
        else:
            yield each


def rest_of_pages(named: list[str]) -> list[Path]:
    """The pages of `docs/` that a navigation does not name, by their titles."""
    pages = [each for each in (ROOT / "docs").glob("*.md") if f"docs/{each.name}" not in named]
    return sorted(pages, key=lambda path: heading(path).lower())


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the repository, what they link to, and the API."""
    for file in list(files):
        if Path(file.abs_src_path or "").is_relative_to(config.docs_dir):
            files.remove(file)
    paths = page_paths()
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}
    for path in paths:
        files.append(File(path, str(ROOT), config.site_dir, True, dest_uri=address(path)))
    linked = {target for path, text in texts.items() for target in link_targets(path, text)}
    made = api_pages()
    for target in sorted(linked - set(paths)):
        place = ROOT / target
        if place.is_dir():
            made[f"{target}/index.md"] = folder_page(target)
        elif place.is_file():
            made[f"{target}.md"] = source_page(target)
    for path, text in made.items():
        file = File.generated(config, path, content=text)
        file.dest_uri = address(path) if path.startswith(FOLDERS) else f"source/{address(path)}"
        files.append(file)
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: object) -> str:
    """Links to files and folders lead to their pages; search finds pages by their headings."""
    if page.file.dest_uri.startswith("source/"):
        page.meta["search"] = {"exclude": True}
    elif markdown.startswith("<!--"):  # no heading is first, from which MkDocs would have a title
        page.meta["title"] = TITLE.search(markdown)[1]
        page.meta["search"] = {"boost": 2}
    here = posixpath.dirname(page.file.src_uri)

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match[1]))
        if files.get_file_from_path(target) is not None:
            return match[1]
        for ending in (".md", "/index.md"):
            if files.get_file_from_path(target + ending) is not None:
                return match[1].rstrip("/") + ending
        return match[1]

    parts = CODE.split(markdown)
    # Of each match, the groups follow: the code itself, its indentation and its fence.
    plain = range(0, len(parts), 4)
    return "".join(
        LINK.sub(lead, part) if i in plain else part if i % 4 == 1 else ""
        for i, part in enumerate(parts)
    )


def on_env(_env: object, *, config: MkDocsConfig, files: Files) -> None:
    """Every page can be reached by links from the navigation; others are orphans."""
    reached = {path for path in navigation_paths(config.nav) if not path.startswith("http")}
    waiting = list(reached)
    while waiting:
        path = waiting.pop()
        file = files.get_file_from_path(path)
        if file is None or file.page is None:
            continue
        for target in link_targets(path, file.page.markdown or ""):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    for file in files.documentation_pages():
        if file.src_uri not in reached:
            LOG.warning("no page leads to %s", file.src_uri)
