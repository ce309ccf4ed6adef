import { useState } from 'preact/hooks';
import { isPhone } from '../media/devices.ts';
import { ALERT_KINDS, alertOn, setAlertOn, type AlertKind, type AlertWay } from '../memory/alerts.ts';
import { canNotify, MAX_PEOPLE_FOR_JOIN } from './alerts.ts';

const EVENTS: Record<AlertKind, string> = {
  join: 'Someone joins',
  knock: 'Someone waits in the lobby',
  hand: 'Someone raises their hand',
  chat: 'A chat message',
};

/** Which events are heard, and which the system shows. */
export function AlertSettings() {
  const [refused, setRefused] = useState(false);
  const ways: readonly AlertWay[] = canNotify(isPhone()) ? ['sound', 'notification'] : ['sound'];
  return (
    <fieldset class="alerts" data-testid="alerts">
      <legend>Sounds{ways.length > 1 && ' and notifications'}</legend>
      <div class="alerts-head soft small" aria-hidden="true">
        <span />
        <span>Sound</span>
        {ways.length > 1 && <span>Notification</span>}
      </div>
      {ALERT_KINDS.map((kind) => (
        <div key={kind} class="alert-row">
          <span>{EVENTS[kind]}</span>
          {ways.map((way) => (
            <AlertSwitch key={way} kind={kind} way={way} onRefused={setRefused} />
          ))}
        </div>
      ))}
      <p class="soft small">
        {ways.length > 1 && 'Notifications are shown while you look at another window or tab. '}
        Nothing is played or shown for arrivals in rooms of more than {MAX_PEOPLE_FOR_JOIN} people.
      </p>
      {refused && (
        <p class="field-problem" role="alert" data-testid="notifications-refused">
          This browser blocks notifications from this site. Allow them in the settings of the site.
        </p>
      )}
    </fieldset>
  );
}

interface AlertSwitchProps {
  readonly kind: AlertKind;
  readonly way: AlertWay;
  readonly onRefused: (refused: boolean) => void;
}

function AlertSwitch({ kind, way, onRefused }: AlertSwitchProps) {
  const [on, setOn] = useState(() => alertOn(kind, way) && (way === 'sound' || isAllowed()));

  async function change(wanted: boolean): Promise<void> {
    const allowed = !wanted || way === 'sound' || (await ask());
    onRefused(!allowed);
    setOn(wanted && allowed);
    setAlertOn(kind, way, wanted && allowed);
  }

  return (
    <label class="alert-switch">
      <span class="visually-hidden">
        {way === 'sound' ? 'Sound' : 'Notification'}: {EVENTS[kind]}
      </span>
      <input
        type="checkbox"
        data-testid={`alert-${kind}-${way}`}
        checked={on}
        onChange={(event) => {
          const box = event.currentTarget;
          // Until the user answered the browser it is what it was.
          void change(box.checked).finally(() => (box.checked = alertOn(kind, way)));
        }}
      />
    </label>
  );
}

const isAllowed = (): boolean => 'Notification' in globalThis && Notification.permission === 'granted';

async function ask(): Promise<boolean> {
  return isAllowed() || (await Notification.requestPermission()) === 'granted';
}
