"""The remembered eras of servers."""

from tui.core.servers import Era, EraBook

OLD, NEW = Era(True, "1.0"), Era(False, "1.0")


class Kept:
    def __init__(self, **eras):
        self.eras, self.loads = eras, 0

    def load(self):
        self.loads += 1
        return dict(self.eras)

    def changed(self, key, era):
        self.eras.pop(key, None)
        if era is not None:
            self.eras[key] = era


def test_an_era_is_remembered_and_kept():
    kept = Kept()
    EraBook(kept).connected("a", OLD)
    assert EraBook(kept).find("a") == OLD


def test_an_upgraded_server_with_a_handshake_is_asked_again():
    kept = Kept(a=OLD)
    book = EraBook(kept)
    book.connected("a", Era(True, "2.0"))
    assert book.find("a") is None and kept.eras == {}
    book.connected("a", Era(True, "2.0"))
    assert book.find("a") == Era(True, "2.0")


def test_another_era_replaces_the_one_that_was_known():
    kept = Kept(a=OLD)
    book = EraBook(kept)
    book.connected("a", NEW)
    assert kept.eras == {"a": NEW}


def test_what_is_kept_is_read_once_and_not_before_it_is_needed():
    kept = Kept(a=OLD)
    book = EraBook(kept)
    assert kept.loads == 0
    assert (book.find("a"), book.find("b"), kept.loads) == (OLD, None, 1)


def test_a_forgotten_era_is_not_kept():
    kept = Kept(a=OLD)
    EraBook(kept).forget("a")
    assert kept.eras == {}


def test_the_version_of_a_server_is_bounded():
    book = EraBook()
    book.connected("a", Era(True, "9" * 1_000))
    assert len(book.find("a").version) == 80
