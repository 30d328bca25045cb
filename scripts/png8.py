#!/usr/bin/env python3
"""Rewrites a PNG of 8 bits per sample with a palette of at most 256 colours: png8.py FROM TO

Pictures of lines and letters have few colours besides the shades at their edges, which take the nearest of those that fit.
The file is a third as large. Needs nothing but Python.
"""
import collections
import struct
import sys
import zlib

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # samples per pixel, by colour type
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    at = len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def nearest(left, above, corner):
    """Paeth's predictor."""
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]


def unfiltered(raw, height, stride, step):
    """The rows of inflated image data, with their filters undone."""
    above = bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        if kind == 1:
            for x in range(step, stride):
                row[x] = (row[x] + row[x - step]) & 255
        elif kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, above))
        elif kind in (3, 4):
            for x in range(stride):
                left, corner = (row[x - step], above[x - step]) if x >= step else (0, 0)
                add = (left + above[x]) // 2 if kind == 3 else nearest(left, above[x], corner)
                row[x] = (row[x] + add) & 255
        yield bytes(row)
        above = row


def pixels(row, channels):
    if channels < 3:
        return [(v, v, v) for v in row[::channels]]
    return list(zip(row[0::channels], row[1::channels], row[2::channels]))


def apart(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def palette_of(rows):
    """A map from every colour to the nearest of 256: those that fill most, then what is missed most, by area and distance."""
    areas = collections.Counter(colour for row in rows for colour in row)
    kept = [colour for colour, _ in areas.most_common(160)]
    nearest_kept = {colour: min((apart(colour, other), other) for other in kept) for colour in areas}
    while len(kept) < min(256, len(areas)):
        missed = max(areas, key=lambda colour: areas[colour] * nearest_kept[colour][0])
        kept.append(missed)
        for colour, found in nearest_kept.items():
            nearest_kept[colour] = min(found, (apart(colour, missed), missed))
    return {colour: shown for colour, (_, shown) in nearest_kept.items()}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def main(source, target):
    data = open(source, "rb").read()
    parts = list(chunks(data))
    width, height, depth, colour_type = struct.unpack(">IIBB", parts[0][1][:10])
    if data[:8] != SIGNATURE or depth != 8 or colour_type not in CHANNELS:
        raise SystemExit(f"png8: {source}: not a PNG of 8 bits per sample without a palette")
    channels = CHANNELS[colour_type]
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    rows = [pixels(row, channels) for row in unfiltered(raw, height, width * channels, channels)]
    rounded = palette_of(rows)
    palette = sorted(set(rounded.values()))
    index = {colour: palette.index(shown) for colour, shown in rounded.items()}
    image = b"".join(b"\0" + bytes(index[colour] for colour in row) for row in rows)
    with open(target, "wb") as out:
        out.write(SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)))
        out.write(chunk(b"PLTE", bytes(v for colour in palette for v in colour)))
        out.write(chunk(b"IDAT", zlib.compress(image, 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    main(*sys.argv[1:])
