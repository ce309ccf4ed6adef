import { useMemo } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { LevelMeter } from '../design/level-meter.tsx';
import { Video } from '../design/video.tsx';
import type { LocalMedia } from '../media/local-media.ts';

/** What the other participants will see and hear, with the switches of camera and microphone. */
export function CameraPreview({ media }: { readonly media: LocalMedia }) {
  const camera = media.camera.value;
  const microphone = media.microphone.value;
  const muted = media.muted.value;
  const track = camera.status === 'live' ? camera.track : null;
  const stream = useMemo(() => (track ? new MediaStream([track]) : null), [track]);
  const micOn = microphone.status === 'live' && !muted;

  return (
    <div class="preview" data-testid="preview">
      {stream ? (
        <Video stream={stream} mirrored label="Your camera" />
      ) : (
        <p class="preview-empty">
          <Icon name="camera-off" />
          {camera.status === 'opening' ? 'Please allow your camera and microphone' : 'Your camera is off'}
        </p>
      )}
      <div class="preview-bar">
        <div class={`preview-level${micOn ? '' : ' silent'}`}>
          <LevelMeter track={microphone.status === 'live' ? microphone.track : null} muted={muted} />
        </div>
        <div class="preview-switches">
          <DeviceSwitch
            kind="microphone"
            on={micOn}
            busy={microphone.status === 'opening'}
            onToggle={() => void media.toggleMicrophone()}
          />
          <DeviceSwitch
            kind="camera"
            on={camera.status === 'live'}
            busy={camera.status === 'opening'}
            onToggle={() => void media.toggleCamera()}
          />
        </div>
      </div>
    </div>
  );
}

interface DeviceSwitchProps {
  readonly kind: 'microphone' | 'camera';
  readonly on: boolean;
  readonly busy: boolean;
  readonly onToggle: () => void;
}

export function DeviceSwitch({ kind, on, busy, onToggle }: DeviceSwitchProps) {
  const icon = kind === 'camera' ? (on ? 'camera' : 'camera-off') : on ? 'mic' : 'mic-off';
  return (
    <button
      type="button"
      class={`round${on ? '' : ' off'}`}
      aria-pressed={on}
      aria-busy={busy}
      aria-label={kind === 'camera' ? 'Camera' : 'Microphone'}
      title={`${kind === 'camera' ? 'Camera' : 'Microphone'} is ${on ? 'on' : 'off'}`}
      data-testid={`prejoin-${kind}`}
      onClick={onToggle}
    >
      <Icon name={icon} />
    </button>
  );
}
