import { Icon } from '../design/icon.tsx';
import type { Devices, LocalMedia } from '../media/local-media.ts';

type Kind = keyof Devices;

const LABELS: Record<Kind, string> = { camera: 'Camera', microphone: 'Microphone', speaker: 'Speaker' };

const ALL: readonly Kind[] = ['camera', 'microphone', 'speaker'];

interface DevicePickersProps {
  readonly media: LocalMedia;
  readonly kinds?: readonly Kind[];
}

/** A list for each kind of device; kinds without a choice are hidden. Used before and during the call. */
export function DevicePickers({ media, kinds = ALL }: DevicePickersProps) {
  const { devices, port } = media;
  const choices = kinds.filter((kind) => kind !== 'speaker' || port.canChooseSpeaker);
  if (choices.every((kind) => devices.value[kind].length === 0)) return null;
  return (
    <div class="pickers">
      {choices.map((kind) => (
        <DevicePicker key={kind} kind={kind} media={media} />
      ))}
    </div>
  );
}

function DevicePicker({ kind, media }: { readonly kind: Kind; readonly media: LocalMedia }) {
  const devices = media.devices.value[kind];
  if (devices.length === 0) return null;
  const current = currentId(kind, media) ?? devices[0]?.deviceId ?? '';
  return (
    <label class="field">
      <span class="label">{LABELS[kind]}</span>
      <span class="select">
        <select
          class="input"
          data-testid={`pick-${kind}`}
          value={current}
          onChange={(event) => void media.choose(kind, event.currentTarget.value)}
        >
          {devices.map((device, index) => (
            <option key={device.deviceId} value={device.deviceId} selected={device.deviceId === current}>
              {device.label || `${LABELS[kind]} ${index + 1}`}
            </option>
          ))}
        </select>
        <Icon name="chevron" />
      </span>
    </label>
  );
}

/** The current device, otherwise the one selected before, if it is still present. */
function currentId(kind: Kind, media: LocalMedia): string | undefined {
  const known = new Set(media.devices.value[kind].map((device) => device.deviceId));
  const source = kind === 'speaker' ? null : media[kind].value;
  const used = source?.status === 'live' ? source.track.getSettings().deviceId : undefined;
  return [used, media.chosen[kind].value].find((id) => typeof id === 'string' && known.has(id)) ?? undefined;
}
