/** The data that an application sends to other participants. SPEC rule DATA-1. */

export type Data = string | Uint8Array<ArrayBuffer>;

/** Text counts in UTF-8. All browsers pass it on in one message of a data channel. */
export const MAX_DATA_BYTES = 16_384;
/** Of data channels: `reliable` is in order, and sent again where packets are lost, `lossy` neither. */
export const LABEL = { reliable: 'parley-data', lossy: 'parley-data-lossy' } as const;
export const LABELS: readonly string[] = Object.values(LABEL);

export const isTooLong = (data: Data): boolean =>
  typeof data === 'string'
    ? data.length > MAX_DATA_BYTES ||
      // Up to three bytes each.
      (3 * data.length > MAX_DATA_BYTES && new TextEncoder().encode(data).length > MAX_DATA_BYTES)
    : data.length > MAX_DATA_BYTES;
