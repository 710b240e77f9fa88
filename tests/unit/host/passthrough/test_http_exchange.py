import tracemalloc

from tui.host.passthrough.http_exchange import HttpExchange


def test_many_small_blocks_take_no_more_memory_than_their_bytes():
    exchange = HttpExchange("far", 1, lambda captured: None)
    exchange.answered(200, [])
    tracemalloc.start()
    for number in range(10_000):
        exchange.heard(number.to_bytes(2, "big"))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 100_000  # 430,000 as a list
