import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../../support/build';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leaf-audit-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

/** Runs the check with a registry that answers as told. */
function check(answer: string): { readonly status: number | null; readonly output: string } {
  const npm = join(directory, 'npm');
  writeFileSync(join(directory, 'answer'), answer);
  writeFileSync(npm, `#!/bin/sh\ncat "${join(directory, 'answer')}"\nexit 1\n`);
  chmodSync(npm, 0o755);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/check-audit.mjs')], {
    env: { PATH: [directory, dirname(process.execPath), '/usr/bin', '/bin'].join(':') },
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

function finding(severity: string): string {
  return JSON.stringify({ vulnerabilities: { thing: { name: 'thing', severity, range: '<1.2.3' } } });
}

describe('node scripts/check-audit.mjs', () => {
  it.each(['high', 'critical'])('fails on severity %s, and names the package', (severity) => {
    const { status, output } = check(finding(severity));
    expect(status).toBe(1);
    expect(output).toContain(`${severity}: thing <1.2.3`);
  });

  it.each(['low', 'moderate'])('ignores severity %s', (severity) => {
    expect(check(finding(severity)).status).toBe(0);
  });

  it('passes without vulnerabilities', () => {
    const { status, output } = check('{"vulnerabilities":{}}');
    expect(status).toBe(0);
    expect(output).toContain('no high or critical vulnerabilities');
  });

  it.each([
    ['does not support the route', '{"message":"405 Method Not Allowed","error":{}}'],
    ['returns no JSON', 'npm error\n'],
    ['returns nothing', ''],
  ])('passes and reports it if the registry %s', (_what, answer) => {
    const { status, output } = check(answer);
    expect(status).toBe(0);
    expect(output).toContain('skipped, because the registry returned no report');
  });
});
