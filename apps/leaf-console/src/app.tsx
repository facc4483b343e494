import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { AdminApi } from './api/admin-api';
import { Format } from './format/format';
import { MESSAGES } from './i18n/messages';
import type { MonitorStore } from './monitor/monitor-store';
import { Header } from './shell/header';
import { Rail } from './shell/rail';
import { StaleBanner } from './shell/stale-banner';
import { ConsoleContext, useConsole, useMonitor } from './state/context';
import { preferences } from './state/preferences';
import { type Route, useRoute } from './state/route';
import { LazyView } from './ui/lazy-view';
import { DecoderPage } from './views/decoder/decoder-page';
import { OverviewPage } from './views/overview/overview-page';
import { SegmentsPage } from './views/segments/segments-page';
import { SnowflakePage } from './views/snowflake/snowflake-page';
import { TagsPage } from './views/tags/tags-page';
import { TryPage } from './views/try-it/try-page';

const loadCluster = () => import('./views/cluster/cluster-page').then(({ ClusterPage }) => ClusterPage);
const loadNumbers = () => import('./views/numbers/numbers-page').then(({ NumbersPage }) => NumbersPage);

export function App({ store }: { readonly store: MonitorStore }): JSX.Element {
  const [language, setLanguage] = useState(preferences.language);
  const [theme, setTheme] = useState(preferences.theme);
  const [token, setToken] = useState(preferences.token);
  const newestToken = useRef(token);
  newestToken.current = token;
  const admin = useMemo(() => new AdminApi(() => newestToken.current), []);
  const format = useMemo(() => new Format(language), [language]);
  // A layout effect runs before the change is visible, so an immediate reload cannot lose it.
  useLayoutEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
    preferences.setLanguage(language);
  }, [language]);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    preferences.setTheme(theme);
  }, [theme]);
  useLayoutEffect(() => preferences.setToken(token), [token]);
  const t = MESSAGES[language];
  const value = { store, admin, token, setToken, t, format, language, setLanguage, theme, setTheme };
  return (
    <ConsoleContext.Provider value={value}>
      <Page />
    </ConsoleContext.Provider>
  );
}

function Page(): JSX.Element {
  const { t } = useConsole();
  const store = useMonitor();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const stale = store.staleSince !== undefined && store.overview !== undefined;
  useEffect(() => {
    document.title = `${titleOf(route, t)} · Leaf`;
  }, [route.view, t]);
  return (
    <div class="frame">
      <Header view={route.view} onSkip={() => main.current?.focus()} />
      <Rail view={route.view} />
      <main ref={main} tabIndex={-1} class={stale ? 'stale' : ''} aria-label={titleOf(route, t)}>
        <StaleBanner />
        {store.overview === undefined ? <p class="waiting">{t.connectingToServer}</p> : <View route={route} />}
      </main>
    </div>
  );
}

function titleOf({ view }: Route, t: (typeof MESSAGES)['en']): string {
  return view === 'try' ? t.tryIt : t[view];
}

function View({ route: { view, rest } }: { readonly route: Route }): JSX.Element {
  switch (view) {
    case 'overview':
      return <OverviewPage />;
    case 'segments':
      return <SegmentsPage />;
    case 'tags':
      return <TagsPage />;
    case 'numbers':
      return <LazyView load={loadNumbers} props={{ given: rest }} />;
    case 'snowflake':
      return <SnowflakePage />;
    case 'cluster':
      return <LazyView load={loadCluster} props={{ tab: rest }} />;
    case 'decoder':
      return <DecoderPage given={rest} />;
    case 'try':
      return <TryPage />;
  }
}
