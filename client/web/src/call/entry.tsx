/** Loaded when a user joins: the SDK and the page of the call. */
import { browserPorts } from '@parley/sdk/browser-ports';
import { joinCall } from '@parley/sdk/join-call';
import { pageMedia } from '@parley/sdk/page-media';
import type { LocalMedia } from '../media/local-media.ts';
import { deviceId } from '../memory/device.ts';
import { ownerKey } from '../memory/owner-key.ts';
import { relayOnly } from '../memory/profile.ts';
import { regionIn, regionMemory } from '../memory/regions.ts';
import { callMemory } from '../memory/tab.ts';
import { mediaKeyIn } from './media-key.ts';
import { CallSession } from './session.ts';

export { CallPage } from './call-page.tsx';

export interface StartOptions {
  readonly room: string;
  readonly name: string;
  readonly media: LocalMedia;
}

export function startSession({ room, name, media }: StartOptions): CallSession {
  const key = ownerKey(room);
  const mediaKey = mediaKeyIn(location.hash);
  const region = regionIn(location.search);
  const call = joinCall(
    {
      api: location.origin,
      room,
      name,
      device: deviceId(),
      ...(key === null ? {} : { ownerKey: key }),
      ...(mediaKey === null ? {} : { mediaKey }),
      microphone: media.sendingMicrophone.peek(),
      camera: media.sendingCamera.peek(),
      memory: callMemory(room),
      regionMemory,
      ...(region === undefined ? {} : { region }),
      ...(relayOnly() ? { iceTransportPolicy: 'relay' as const } : {}),
    },
    browserPorts(pageMedia),
  );
  return new CallSession(call, media, mediaKey);
}
