"""What drawn probes are made of: words, names, rankings. Nothing here knows an answer.

A seed gives the same probes on every Python: choice, sample, shuffle and randrange are all that is asked of Random,
and nothing is drawn from a set.
"""

from random import Random

# No stop words, no accents, none inside another; each takes "a" before it and has a plural in s.
_WORDS = """
barrel basket battery blanket bottle bracket bridge bucket cable camera candle carpet chimney curtain drawer dynamo
fence filter funnel garden gasket generator hammer handle heater helmet hinge hose kettle ladder lantern lever magnet
mirror nozzle paddle pallet pedal pencil piston printer pulley radiator ribbon rocket rudder saddle scanner sensor
shovel signal socket staircase trolley tunnel turbine wagon whistle window
"""
WORDS = _WORDS.split()
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_CAPITALS = "BCDFGHJKLMNPQRSTVWXZ"


def words(random: Random, count: int) -> list[str]:
    """Different words."""
    return random.sample(WORDS, count)


def letters(random: Random, count: int) -> list[str]:
    """Different small letters, which stand for documents."""
    return random.sample(_ALPHABET, count)


def sections(random: Random, count: int) -> list[str]:
    """Names of different documents, such as "Section 47"."""
    return [f"Section {number}" for number in random.sample(range(11, 100), count)]


def identifier(random: Random) -> str:
    """A number such as "KD-40821"."""
    return "".join(random.sample(_CAPITALS, 2)) + f"-{random.randrange(10_000, 100_000)}"


def shuffled(random: Random, items: list) -> list:
    """The same items in another order, or in the same by chance."""
    return random.sample(items, len(items))


def numbered(name: str, texts: list[str]) -> list[list[str]]:
    """Pairs of a label and a text: "Note 1", "Note 2" and so on."""
    return [[f"{name} {number}", text] for number, text in enumerate(texts, start=1)]
