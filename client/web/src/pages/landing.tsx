import { Icon } from '../design/icon.tsx';
import { LandingIllustration } from './illustration.tsx';
import { JoinForm } from './join-form.tsx';
import './landing.css';
import { NamedRoomForm } from './named-room-form.tsx';
import { isOpening, newRoom } from './new-room.ts';
import { PageLink } from './page-link.tsx';
import { usePageTitle } from './page-title.ts';
import { SiteHead } from './site-head.tsx';

const POINTS = [
  { icon: 'link', title: 'Only a link', text: 'No account and nothing to install.' },
  {
    icon: 'lock',
    title: 'Private',
    text: 'Small calls mostly go from browser to browser, and each call says who could read it.',
  },
  {
    icon: 'wave',
    title: 'Stable',
    text: 'You stay in the call when you change networks or reload the page.',
  },
] as const;

export function Landing() {
  const heading = usePageTitle('Parley · open a link and talk');
  return (
    <div class="site">
      <SiteHead>
        <nav class="site-links" aria-label="Other parts of Parley">
          <PageLink class="button quiet" href="/live" data-testid="to-live">
            Live
          </PageLink>
          <PageLink class="button quiet" href="/streams" data-testid="to-streams">
            Streams
          </PageLink>
          <PageLink class="button quiet" href="/p" data-testid="to-pages">
            Pages
          </PageLink>
        </nav>
      </SiteHead>
      <main class="site-main landing-main">
        <section class="hero">
          <h1 ref={heading} tabIndex={-1}>
            Open a link <br />
            and talk.
          </h1>
          <p class="hero-text">Rooms for voice, video and screens. Share the link, and others can join.</p>
          <button
            type="button"
            class="button primary large"
            data-testid="new-room"
            aria-busy={isOpening.value}
            onClick={() => void newRoom()}
          >
            New room
            <Icon name="arrow" />
          </button>
          <JoinForm />
          <NamedRoomForm />
        </section>
        <LandingIllustration />
        <ul class="points">
          {POINTS.map((point) => (
            <li key={point.title}>
              <Icon name={point.icon} />
              <div>
                <h2>{point.title}</h2>
                <p class="soft">{point.text}</p>
              </div>
            </li>
          ))}
        </ul>
      </main>
    </div>
  );
}
