"""The options of an examination."""

from tui.addons.doctor.examinations import doctor_options
from tui.core.servers import ServerSpec
from tui.runtime.options import Options


def test_an_examination_keeps_nothing_and_accepts_every_definition():
    spec = ServerSpec("s", "x")
    made = doctor_options(Options(session="mine", server=spec))
    assert (made.save, made.session, made.accept_all, made.server) == (False, None, True, spec)
