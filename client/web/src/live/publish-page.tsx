/** `/live/<name>/publish`: selects a camera or a screen and publishes it. */
import { CopyButton } from '../design/copy-button.tsx';
import { Icon } from '../design/icon.tsx';
import type { MediaProblem } from '../media/devices.ts';
import { CameraPreview } from '../pages/camera-preview.tsx';
import { DevicePickers } from '../pages/device-pickers.tsx';
import { MediaTrouble } from '../pages/media-trouble.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import '../pages/prejoin.css';
import { SiteHead } from '../pages/site-head.tsx';
import { Countdown } from '../streams/connection-problem.tsx';
import '../streams/viewer.css';
import { watchPath } from './live-route.ts';
import { PublishFigures } from './publish-figures.tsx';
import type { PublishView } from './publish-session.ts';
import { TAKEN } from './refusals.ts';
import type { Link } from './relay-link.ts';
import { ScreenPreview } from './screen-preview.tsx';
import { TransportTag } from './transport-tag.tsx';
import './live.css';

const GO_LIVE_WITHOUT = {
  yet: 'You can still go live without.',
  or: 'go live without.',
  else: 'another browser or device.',
};

export function PublishPage({ view }: { readonly view: PublishView }) {
  const heading = usePageTitle(`Publish ${view.name} · Parley`);
  const link = view.link.value;
  return (
    <div
      class="site"
      data-testid="page-publish"
      data-link={link?.at ?? 'off'}
      data-transport={link?.at === 'open' ? link.transport : ''}
    >
      <SiteHead />
      <main class="site-main prejoin-main live-main">
        <div class="prejoin-media">
          {view.screen.value ? (
            <ScreenPreview screen={view.screen.value} media={view.media} />
          ) : (
            <CameraPreview media={view.media} />
          )}
          <MediaTrouble media={view.media} without={GO_LIVE_WITHOUT} />
          <ScreenTrouble problem={view.screenProblem.value} />
        </div>
        <section class="prejoin-side">
          <div class="prejoin-title">
            <h1 ref={heading} tabIndex={-1}>
              {headline(link)}
            </h1>
            <Standing view={view} link={link} />
          </div>
          {(link?.at === 'waiting' || link?.at === 'stopped') && <LinkTrouble view={view} link={link} />}
          {link && (
            <div class="live-share">
              <p class="label">Everyone with this link can watch</p>
              <code class="secret">{location.origin + watchPath(view.name)}</code>
              <CopyButton
                text={location.origin + watchPath(view.name)}
                label="Copy link"
                testid="copy-link"
                primary
              />
            </div>
          )}
          <div class="live-actions">
            <GoOrStop view={view} />
            <ScreenButton view={view} />
          </div>
          {link?.at === 'open' && <PublishFigures view={view} />}
          <DevicePickers media={view.media} />
        </section>
      </main>
    </div>
  );
}

function headline(link: Link | null): string {
  switch (link?.at) {
    case undefined:
      return 'Ready to go live?';
    case 'open':
      return 'You are live';
    case 'stopped':
      return 'You are not live';
    default:
      return 'Going live…';
  }
}

interface StandingProps {
  readonly view: PublishView;
  readonly link: Link | null;
}

function Standing({ view, link }: StandingProps) {
  if (link === null)
    return (
      <p class="soft">
        Everyone with the link sees and hears you as <strong>{view.name}</strong>.
      </p>
    );
  return (
    <div class="live-standing">
      <p
        class={`pill ${link.at === 'open' ? 'live' : 'lost'}`}
        role="status"
        data-testid="status"
        data-status={link.at === 'open' ? 'live' : 'lost'}
      >
        <span class="pill-dot" />
        {link.at === 'open' ? 'Live' : link.at === 'stopped' ? 'Stopped' : 'Connecting'}
      </p>
      {link.at === 'open' && <TransportTag transport={link.transport} />}
    </div>
  );
}

interface LinkTroubleProps {
  readonly view: PublishView;
  readonly link: Extract<Link, { readonly at: 'waiting' | 'stopped' }>;
}

function retryLabel({ at, reason }: LinkTroubleProps['link']): string {
  if (at === 'waiting') return 'Try now';
  return reason === TAKEN ? 'Go live anyway' : 'Try again';
}

function LinkTrouble({ view, link }: LinkTroubleProps) {
  return (
    <div class="callout trouble" role="alert" data-testid="trouble">
      <Icon name="warning" />
      <div>
        <strong>{link.reason.title}</strong>
        <p>{link.reason.body}</p>
        {link.at === 'waiting' && <Countdown until={link.until} />}
        <button type="button" class="button" data-testid="retry" onClick={() => view.retry()}>
          {retryLabel(link)}
        </button>
      </div>
    </div>
  );
}

function GoOrStop({ view }: { readonly view: PublishView }) {
  if (view.link.value !== null)
    return (
      <button type="button" class="button danger large" data-testid="stop" onClick={() => view.stop()}>
        Stop
      </button>
    );
  const { camera, microphone } = view.media;
  const something =
    view.screen.value !== null || camera.value.status === 'live' || microphone.value.status === 'live';
  return (
    <button
      type="button"
      class="button primary large"
      data-testid="go-live"
      disabled={!something}
      onClick={() => view.goLive()}
    >
      Go live
    </button>
  );
}

function ScreenButton({ view }: { readonly view: PublishView }) {
  if (view.media.port.openScreen === null) return null;
  const shown = view.screen.value !== null;
  return (
    <button
      type="button"
      class="button"
      aria-pressed={shown}
      data-testid="screen"
      onClick={() => {
        if (shown) view.endScreen();
        else void view.shareScreen();
      }}
    >
      <Icon name={shown ? 'camera' : 'screen'} />
      {shown ? 'Show the camera again' : 'Show a screen instead'}
    </button>
  );
}

/** A user who cancels the browser's prompt needs no explanation. */
function ScreenTrouble({ problem }: { readonly problem: MediaProblem | null }) {
  if (problem === null || problem === 'refused') return null;
  return (
    <div class="callout trouble" role="alert" data-testid="screen-trouble">
      <Icon name="warning" />
      <div>
        <strong>The screen cannot be shown</strong>
        <p>
          {problem === 'unsupported' || problem === 'insecure'
            ? 'This browser does not share screens here. Use Chrome, Edge, Firefox or Safari on a computer.'
            : 'Try again, or choose another screen or window.'}
        </p>
      </div>
    </div>
  );
}
