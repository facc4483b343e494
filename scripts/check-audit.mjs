// Asks the registry for known vulnerabilities of what is shipped, and fails on high and critical ones. Where the registry
// cannot be asked, it says so and goes on: that is no finding.
import { spawnSync } from 'node:child_process';

const GRAVE = ['high', 'critical'];

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const report = read(stdout ?? '');
if (report?.vulnerabilities === undefined) {
  const reason = error?.message ?? report?.message ?? 'npm audit gave no report';
  process.stderr.write(`check:audit: the registry was not asked, nothing is known. ${reason.trim()}\n`);
} else {
  const found = Object.values(report.vulnerabilities).filter(({ severity }) => GRAVE.includes(severity));
  for (const { name, severity, range } of found) process.stderr.write(`check:audit: ${severity}: ${name} ${range}\n`);
  if (found.length > 0) process.exitCode = 1;
  else process.stdout.write('check:audit: nothing high or critical in what is shipped.\n');
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
