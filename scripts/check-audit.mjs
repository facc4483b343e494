// Fails if a production dependency has a known vulnerability of severity high or critical. A registry without a report only
// causes a warning.
import { spawnSync } from 'node:child_process';

const FAILING = ['high', 'critical'];

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const report = read(stdout ?? '');
if (report?.vulnerabilities === undefined) {
  const reason = error?.message ?? report?.message ?? 'npm audit wrote no JSON';
  process.stderr.write(`check:audit: skipped, because the registry returned no report: ${reason.trim()}\n`);
} else {
  const found = Object.values(report.vulnerabilities).filter(({ severity }) => FAILING.includes(severity));
  for (const { name, severity, range } of found) process.stderr.write(`check:audit: ${severity}: ${name} ${range}\n`);
  if (found.length > 0) process.exitCode = 1;
  else process.stdout.write('check:audit: no high or critical vulnerabilities in the production dependencies.\n');
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
