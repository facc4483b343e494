import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from './package-version';

it('is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string };
  expect(packageVersion(__dirname)).toBe(version);
});

it('is unknown without a package', () => {
  expect(packageVersion('/')).toBe('unknown');
});
