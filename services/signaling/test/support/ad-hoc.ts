/** The room of a scripted world. */
import type { RoomView } from '@parley/protocol/http';

export const ROOM = 'aaaa-bbbb-cccc-dddd';

export const adHoc = (cap = 100): RoomView => ({
  room: ROOM,
  kind: 'ad-hoc',
  homeRegion: null,
  cap,
  locked: false,
});
