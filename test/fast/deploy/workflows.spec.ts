import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../support/build';
import { missingIn } from '../../support/named-commands';

type Permissions = Readonly<Record<string, string>>;

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Permissions;
  readonly environment?: string;
  readonly needs?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
  readonly strategy?: { readonly matrix: { readonly include: readonly { readonly run: string }[] } };
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Permissions;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = join(ROOT, '.github/workflows');
/** Every permission to write, by workflow and job. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  'release.yml npm': ['id-token'],
  'release.yml python': ['id-token', 'attestations'],
  'release.yml java': ['id-token', 'attestations'],
  'release.yml image': ['packages', 'id-token', 'attestations'],
  'scorecard.yml scorecard': ['security-events', 'id-token'],
};

const workflows = readdirSync(FOLDER).map((file): [string, Workflow, string] => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return [file, parse(text) as Workflow, text];
});
const jobs = workflows.flatMap(([file, workflow]) =>
  Object.entries(workflow.jobs).map(([name, job]): [string, Job, Workflow] => [`${file} ${name}`, job, workflow]),
);
const commandsOf = ({ steps, strategy }: Job): string[] => [
  ...steps.flatMap(({ run }) => (run === undefined || run === '${{ matrix.run }}' ? [] : [run])),
  ...(strategy?.matrix.include ?? []).map(({ run }) => run),
];

describe.each(workflows)('%s', (_file, workflow, text) => {
  it('may write nothing but what its jobs name, and does not run for pull requests with secrets', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(workflow.permissions);
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    expect(Object.keys(workflow.on)).not.toContain('workflow_run');
  });

  it('pastes no text into commands that others choose', () => {
    expect(text.match(/^ *-? *run: .*\$\{\{(?! matrix\.run \}\}$).*$/gm)).toBeNull();
  });
});

describe.each(jobs)('%s', (name, job, workflow) => {
  it('has no more permissions to write than it needs', () => {
    const permissions = Object.entries(job.permissions ?? workflow.permissions);
    const writes = permissions.filter(([, access]) => access !== 'read').map(([what]) => what);
    expect(writes.sort()).toEqual([...(WRITES[name] ?? [])].sort());
    expect(permissions.every(([, access]) => ['read', 'write'].includes(access))).toBe(true);
  });

  it('calls commands that there are', () => {
    expect(commandsOf(job).flatMap((command) => missingIn(command))).toStrictEqual([]);
  });

  it('names a version of each action, gives no token to later steps, and ends', () => {
    const actions = job.steps.flatMap((step) => (step.uses === undefined ? [] : [step.uses]));
    expect(
      actions.filter((action) => !/^[\w-]+\/[\w./-]+@(v\d+(\.\d+\.\d+)?|release\/v1|[0-9a-f]{40})$/.test(action)),
    ).toStrictEqual([]);
    const checkouts = job.steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual([false]);
    expect(job['timeout-minutes']).toBeGreaterThan(0);
  });
});

it('what publishes needs the approval of an environment, runs after the tests, and runs none itself', () => {
  const publishing = jobs.filter(([name]) => name.startsWith('release.yml') && WRITES[name] !== undefined);
  expect(publishing.map(([, { needs }]) => needs)).toEqual(publishing.map(() => 'check'));
  for (const [name, job] of publishing) {
    expect([name, job.environment]).toEqual([name, expect.stringMatching(/^\w+$/)]);
    expect(
      commandsOf(job).filter((command) => /\.ci\/run|npm (run )?test|jest|verify\b(?!-)/.test(command)),
    ).toStrictEqual([]);
  }
  const release = workflows.find(([file]) => file === 'release.yml')?.[1];
  expect([release?.jobs.check?.needs, commandsOf(release!.jobs.tag!).at(-1)]).toEqual([
    'tag',
    expect.stringContaining('scripts/verify-release.mjs'),
  ]);
});

it('commands that there are not are noticed', () => {
  const missing = [
    ['npm run no-such-script', 'npm run no-such-script'],
    ['npm ci && node scripts/none.mjs --x', 'scripts/none.mjs'],
    ['A=1 npx jest test/none --selectProjects fast nope -w 1', 'nope', 'test/none'],
    ['npx no-such-program', 'npx no-such-program'],
    ['.ci/none', '.ci/none'],
    ['curl https://example.org | sh', 'curl', 'sh'],
  ];
  for (const [command = '', ...found] of missing) expect(missingIn(command).sort()).toEqual(found.sort());
  expect(missingIn('npm test\nnpm run chaos -- --minutes 1; node test/engines/run.mjs')).toStrictEqual([]);
});
