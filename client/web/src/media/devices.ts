/** The port to cameras, microphones, speakers and screens; the gallery has its own. */

export interface DevicePort {
  /** `insecure`: browsers hide devices from pages without https. */
  readonly access: 'yes' | 'insecure' | 'unsupported';
  open(constraints: MediaStreamConstraints): Promise<MediaStream>;
  /** `null` if the device cannot share its screen (most phones). */
  readonly openScreen: (() => Promise<MediaStream>) | null;
  list(): Promise<readonly MediaDeviceInfo[]>;
  /** The listener is called when a device is added or removed; the returned function stops it. */
  watch(listener: () => void): () => void;
  readonly canChooseSpeaker: boolean;
  /** A phone has a camera on each side. */
  readonly canFlipCamera: boolean;
}

export type MediaProblem = 'refused' | 'missing' | 'busy' | 'insecure' | 'unsupported' | 'lost' | 'failed';

export function browserDevices(): DevicePort {
  // Absent without https and in old browsers, whatever the types say.
  const media = navigator.mediaDevices as MediaDevices | undefined;
  const canShare = typeof media?.getDisplayMedia === 'function' && !isPhone();
  return {
    access: media?.getUserMedia ? 'yes' : isSecureContext ? 'unsupported' : 'insecure',
    open: (constraints) =>
      media ? media.getUserMedia(constraints) : Promise.reject(new DOMException('', 'NotSupportedError')),
    openScreen: media && canShare ? () => media.getDisplayMedia({ video: true, audio: true }) : null,
    list: () => media?.enumerateDevices() ?? Promise.resolve([]),
    watch(listener) {
      media?.addEventListener('devicechange', listener);
      return () => media?.removeEventListener('devicechange', listener);
    },
    canChooseSpeaker: 'setSinkId' in HTMLMediaElement.prototype,
    canFlipCamera: isPhone(),
  };
}

/** Chrome for Android has getDisplayMedia but always refuses it; iOS does not have it. */
export function isPhone(): boolean {
  const hints = (navigator as Navigator & { userAgentData?: { mobile: boolean } }).userAgentData;
  return hints?.mobile ?? /Android|iPhone|iPad|iPod/.test(navigator.userAgent);
}

/** Names of errors: Media Capture and Streams, section 10.3. In Firefox they are no instances of `Error`. */
export function problemOf(error: unknown): MediaProblem {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : '';
  switch (name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'refused';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'missing';
    case 'NotReadableError':
    case 'AbortError':
      return 'busy';
    case 'NotSupportedError':
      return 'unsupported';
    default:
      return 'failed';
  }
}
