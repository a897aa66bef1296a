"""A page as a program sees it."""

from html.parser import HTMLParser

VOID = {"meta"}


class Page(HTMLParser):
    """Elements of a page in order, with attributes and the text directly inside."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        self.close()
        assert not self._open, "every element must be closed"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag, "elements must be closed in order"

    def handle_data(self, data):
        if self._open:
            self._open[-1][2].append(data)

    def all(self, tag):
        return [(attrs, "".join(text)) for one, attrs, text in self.elements if one == tag]

    def tags(self):
        return {tag for tag, _, _ in self.elements}

    def values(self):
        """Return places in the card with the values that the page gives there."""
        return [
            (attrs["data-card"], attrs["data-value"])
            for _, attrs, _ in self.elements
            if "data-card" in attrs
        ]


def looked_up(stored, pointer):
    """Return what the JSON of a card holds at a JSON pointer."""
    found = stored
    for key in pointer.split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found
