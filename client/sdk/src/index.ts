/**
 * The public interface of the SDK: a call, pages that their readers hold, and the ids of rooms. What a browser provides is passed as `Ports`.
 * Other modules of the package are internal.
 * @module
 */
export { browserPorts, canCall, canHoldPages, measureLevel } from './browser-ports.ts';
export { joinCall } from './join-call.ts';
export { pageMedia } from './page-media.ts';
export { openPages } from './pages/open-pages.ts';
export { newSecret as newMediaKey } from './sfu/secret.ts';
export { adHocRoomId, parseRoomId } from '@parley/protocol/ids';
export { REACTIONS } from '@parley/protocol/people';
export { pagePath } from '@parley/protocol/pages';

export type * from './call.ts';
export type * from './pages/api.ts';
export type { LocalMedia, Role, Size } from './media.ts';
export type { Count, TrackFigures } from './measure/figures.ts';
export type { Answer, Refusal } from './net/request.ts';
export type { PagesOptions } from './pages/open-pages.ts';
export type * from './ports.ts';
export type { Moderation } from './room/moderation.ts';
export type { Closeable, PageMedia, PictureSink } from './sfu/media-ports.ts';
export type { Code } from '@parley/protocol/codes';
export type { Ban, ChangeRoomRequest, RoomView } from '@parley/protocol/http';
export type { ParticipantId, RegionId, RoomId, RoomReference } from '@parley/protocol/ids';
export type { PageAddress, PageLimits } from '@parley/protocol/pages';
export type { Media, Presence, Waiting } from '@parley/protocol/people';
