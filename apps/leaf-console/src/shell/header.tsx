import type { ComponentChildren, JSX } from 'preact';
import { useConsole, useMonitor } from '../state/context';
import { preferences } from '../state/preferences';
import { hrefOf, type ViewName } from '../state/route';
import { Icon } from '../ui/icons';
import type { PartStatus } from '../monitor/views';
import { SERVER_STATE_DOTS, serverStateWords, StatusDot } from '../ui/status-dot';

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const;

interface HeaderProps {
  readonly view: ViewName;
  /** Moves the focus to the content. */
  readonly onSkip: () => void;
}

export function Header({ view, onSkip }: HeaderProps): JSX.Element {
  const { t, language, setLanguage, theme, setTheme } = useConsole();
  const themeName = { system: t.themeSystem, light: t.themeLight, dark: t.themeDark }[theme];
  return (
    <header>
      <a
        class="skip"
        href={hrefOf(view)}
        onClick={(event) => {
          event.preventDefault();
          onSkip();
        }}
      >
        {t.skipToContent}
      </a>
      <h1>
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
          <path d="M27 4C14 4 5 9 5 19c0 3 1 5 2 6 2-7 7-11 13-14-5 4-9 9-11 16 2 1 4 1 5 1C24 28 28 18 27 4z" />
        </svg>
        Leaf
      </h1>
      <ServerState />
      <div class="switch" role="group" aria-label={t.language}>
        <button type="button" lang="en" aria-pressed={language === 'en'} onClick={() => setLanguage('en')}>
          en
        </button>
        <button type="button" lang="zh-CN" aria-pressed={language === 'zh'} onClick={() => setLanguage('zh')}>
          中
        </button>
      </div>
      <button
        type="button"
        class="quiet square"
        aria-label={t.theme(themeName)}
        title={t.theme(themeName)}
        onClick={() => setTheme(preferences.nextTheme(theme))}
      >
        <Icon name={THEME_ICONS[theme]} />
      </button>
    </header>
  );
}

function ServerState(): JSX.Element {
  const { t } = useConsole();
  const { overview, staleSince } = useMonitor();
  if (staleSince !== undefined) return <State status="down" word={t.noConnection} instance={overview?.instance} />;
  if (overview === undefined) return <State status="off" word={t.connecting} instance={undefined} />;
  const { state, reason, instance } = overview;
  return (
    <State status={SERVER_STATE_DOTS[state]} word={serverStateWords(t)[state]} instance={instance}>
      {reason !== null && (
        <a class="reason" href={hrefOf('overview')} title={reason}>
          {reason}
        </a>
      )}
    </State>
  );
}

interface StateProps {
  readonly status: PartStatus;
  readonly word: string;
  readonly instance: string | undefined;
  readonly children?: ComponentChildren;
}

function State({ status, word, instance, children }: StateProps): JSX.Element {
  return (
    <p class="server-state">
      <span role="status">
        <StatusDot status={status} />
        {word}
      </span>
      {children}
      {instance !== undefined && <span class="instance">{instance}</span>}
    </p>
  );
}
