import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../support/build';
import { readAlertCases } from '../../support/http/alert-cases';

interface Alert {
  readonly alert?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

const PAGE = 'docs/operations/run-book.md';
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const { groups } = parse(read('deploy/prometheus/leaf.rules.yaml')) as { groups: readonly { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);

/** What a heading is linked by. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function anchorsOf(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
}

describe('the alerts', () => {
  it.each(alerts.map((alert) => [alert.alert!, alert]))(
    '%s says what, how bad, and where to read on',
    (name, alert) => {
      expect(['critical', 'warning', 'info']).toContain(alert.labels.severity);
      expect(Object.keys(alert.annotations)).toEqual(['summary', 'description', 'runbook_url']);
      for (const text of Object.values(alert.annotations)) expect(text).toMatch(/\S/);
      expect(alert.annotations.runbook_url).toBe(`${PAGE}#${anchorOf(name)}`);
      expect(anchorsOf(PAGE)).toContain(anchorOf(name));
    },
  );

  it('are those of the run-book', () => {
    const described = [...read(PAGE).matchAll(/^## (Leaf\w+)$/gm)].map(([, name]) => name);
    expect(described).toEqual(alerts.map(({ alert }) => alert));
  });
});

it('deploy/prometheus/alertmanager.yaml mutes alerts that there are, and none that tells of lost uniqueness', () => {
  const { inhibit_rules: rules } = parse(read('deploy/prometheus/alertmanager.yaml')) as {
    inhibit_rules: readonly { readonly source_matchers: string[]; readonly target_matchers: string[] }[];
  };
  const namesOf = (matchers: readonly string[]): string[] =>
    matchers.flatMap((matcher) => /^alertname=~?"(.*)"$/.exec(matcher)?.[1]?.split('|') ?? [matcher]);
  const muted = rules.flatMap((rule) => namesOf(rule.target_matchers));
  const known = alerts.map(({ alert }) => alert!);
  expect(known).toEqual(
    expect.arrayContaining([...new Set([...muted, ...rules.flatMap((rule) => namesOf(rule.source_matchers))])]),
  );
  for (const name of ['LeafStoreWentBackwards', 'LeafWorkerIdTwice', 'LeafLeaseLost']) {
    expect(known).toContain(name);
    expect(muted).not.toContain(name);
  }
});

describe('the unit tests of the alerts', () => {
  const RULES = 'deploy/prometheus';
  const files = readdirSync(join(ROOT, RULES)).filter((name) => name.endsWith('.test.yaml'));
  const cases = readAlertCases(files.map((name) => read(`${RULES}/${name}`)));

  it.each(alerts.map(({ alert }) => alert!))('expect that %s fires, and that it does not', (name) => {
    expect([cases.firing.has(name), cases.silent.has(name)]).toEqual([true, true]);
  });

  it('name alerts that there are', () => {
    const isAlert = (name: string): boolean => alerts.some(({ alert }) => new RegExp(`^(${name})$`).test(alert!));
    expect([...cases.named].filter((name) => !isAlert(name))).toStrictEqual([]);
  });

  it('are run', () => {
    const run = read('test/services/prometheus/rules.spec.ts');
    expect(files.filter((name) => !run.includes(`'${name}'`))).toStrictEqual([]);
  });
});

describe('the pages of operations', () => {
  const pages = [
    PAGE,
    ...['sizing', 'databases', 'containers', 'helm', 'process-managers'].map((name) => `docs/operations/${name}.md`),
  ];

  it.each(pages)('%s links to headings that there are', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)].map(([, file, anchor]) => [file!, anchor!]);
    for (const [file = '', anchor] of links) {
      const target = file === '' ? page : join(dirname(page), file);
      expect([target, anchorsOf(target)]).toEqual([target, expect.arrayContaining([anchor])]);
    }
  });

  it.each(pages)('%s names files of deploy/ that there are', (page) => {
    const named = [...read(page).matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
  });
});

describe('deploy/grafana/leaf.json', () => {
  const { panels } = JSON.parse(read('deploy/grafana/leaf.json')) as { panels: Panel[] };

  it('has panels with numbers and titles of their own, side by side and not one above another', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.get(`${x},${y}`)]).toEqual([title, undefined]);
          taken.set(`${x},${y}`, title);
        }
      }
    }
  });
});
