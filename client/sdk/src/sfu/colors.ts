/** The color space of encoded video, which streams of VP8 and VP9 do not carry: without it a decoder assumes BT.709, and cameras are often BT.601. */
import { Type, type Static } from 'typebox';

const Name = Type.Optional(Type.String({ maxLength: 32 }));
/** As in WebCodecs. Parts that are missing, or that this browser does not know, are those that a decoder assumes. */
export const Colors = Type.Object({
  primaries: Name,
  transfer: Name,
  matrix: Name,
  fullRange: Type.Optional(Type.Boolean()),
});
export type Colors = Static<typeof Colors>;

/** Those of WebCodecs, of which TypeScript knows a part: decoders reject other names. */
const PRIMARIES = ['bt709', 'bt470bg', 'smpte170m', 'bt2020', 'smpte432'];
const TRANSFERS = ['bt709', 'smpte170m', 'iec61966-2-1', 'linear', 'pq', 'hlg'];
const MATRICES = ['rgb', 'bt709', 'bt470bg', 'smpte170m', 'bt2020-ncl'];

/** For a catalog, from what an encoder says of its output; `undefined` where it says nothing. */
export function colorsOf(space: VideoColorSpaceInit | undefined): Colors | undefined {
  const { primaries, transfer, matrix, fullRange } = space ?? {};
  const colors = {
    ...(typeof primaries === 'string' && { primaries }),
    ...(typeof transfer === 'string' && { transfer }),
    ...(typeof matrix === 'string' && { matrix }),
    ...(typeof fullRange === 'boolean' && { fullRange }),
  };
  return Object.keys(colors).length === 0 ? undefined : colors;
}

/** For a decoder. */
export function colorSpace({ primaries, transfer, matrix, fullRange }: Colors): VideoColorSpaceInit {
  return {
    primaries: known(PRIMARIES, primaries) as VideoColorPrimaries | null,
    transfer: known(TRANSFERS, transfer) as VideoTransferCharacteristics | null,
    matrix: known(MATRICES, matrix) as VideoMatrixCoefficients | null,
    fullRange: fullRange ?? null,
  };
}

export function sameColors(one: Colors | undefined, other: Colors | undefined): boolean {
  const parts = [one, other].map((each) => [each?.primaries, each?.transfer, each?.matrix, each?.fullRange]);
  return JSON.stringify(parts[0]) === JSON.stringify(parts[1]);
}

const known = (names: readonly string[], name = ''): string | null => (names.includes(name) ? name : null);
