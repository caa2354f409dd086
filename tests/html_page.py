"""Reads a page as a browser would, and is stricter."""

import html.parser

# Elements that have no end.
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(html.parser.HTMLParser):
    """Checks that elements nest, and collects what a browser might fetch or mix up."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.titles = 0
        self.rectangles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Opens it."""
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        self.titles += tag == "title"
        self.rectangles += tag == "rect"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Opens and closes it."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Closes what was opened last."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def parsed(text: str) -> Page:
    """The page, whole and well nested."""
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page
