import { problemCopy } from '../copy/media-problems.ts';
import { Icon } from '../design/icon.tsx';
import type { Kind, LocalMedia, Source } from '../media/local-media.ts';

/** Says what is wrong with the devices and what to do; the same trouble with both is said once. */
export function MediaTrouble({ media }: { readonly media: LocalMedia }) {
  const camera = problem(media.camera.value);
  const microphone = problem(media.microphone.value);
  if (camera && camera === microphone)
    return <Trouble problem={camera} subject="both" onAgain={() => void media.begin()} />;
  return (
    <>
      {microphone && (
        <Trouble problem={microphone} subject="microphone" onAgain={again(media, 'microphone')} />
      )}
      {camera && <Trouble problem={camera} subject="camera" onAgain={again(media, 'camera')} />}
    </>
  );
}

const problem = (source: Source) => (source.status === 'failed' ? source.problem : null);
const again = (media: LocalMedia, kind: Kind) => () => void media.turnOn(kind);

interface TroubleProps {
  readonly problem: Parameters<typeof problemCopy>[0];
  readonly subject: Parameters<typeof problemCopy>[1];
  readonly onAgain: () => void;
}

function Trouble({ problem, subject, onAgain }: TroubleProps) {
  const copy = problemCopy(problem, subject);
  return (
    <div class="callout trouble" role="alert" data-testid={`trouble-${problem}`}>
      <Icon name="warning" />
      <div>
        <strong>{copy.title}</strong>
        <p>{copy.advice}</p>
        {copy.again && (
          <button type="button" class="button" onClick={onAgain}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}
