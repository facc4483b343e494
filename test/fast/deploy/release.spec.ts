import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { command, type Manifest, manifestOf, writeJson } from '../../support/packages';

const CHANGELOG =
  '# Changes\n\n## 1.1.0 (unreleased)\n\n- **A thing** that is new.\n\n### Details\n\nMore.\n\n## 1.0.0\n\nOld.\n';

describe('node scripts/release.mjs', () => {
  let directory: string;

  /** A repository of two packages, one of which needs the other. */
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-release-'));
    for (const folder of ['scripts', 'deploy', 'libs/a', 'libs/b', 'examples/one']) {
      await mkdir(join(directory, folder), { recursive: true });
    }
    for (const script of ['release.mjs', 'verify-release.mjs']) {
      await cp(join(ROOT, 'scripts', script), join(directory, 'scripts', script));
    }
    await writeFile(join(directory, 'CHANGELOG.md'), CHANGELOG);
    await writeFile(join(directory, 'deploy/compose.yaml'), 'image: leaf-server:1.0.0\n');
    await writeFile(join(directory, 'deploy/Chart.yaml'), 'apiVersion: v2\nversion: 1.0.0\nappVersion: 1.0.0\n');
    await writeJson(join(directory, 'package.json'), {
      name: 'all',
      version: '1.0.0',
      private: true,
      workspaces: ['libs/*'],
    });
    await writeJson(join(directory, 'libs/a/package.json'), { name: '@own/a', version: '1.0.0' });
    await writeJson(join(directory, 'libs/b/package.json'), {
      name: '@own/b',
      version: '1.0.0',
      dependencies: { '@own/a': '^1.0.0' },
    });
    const dependencies = { '@own/b': '^1.0.0', other: '^1.0.0' };
    await writeJson(join(directory, 'examples/one/package.json'), {
      name: 'one',
      version: '5.0.0',
      private: true,
      dependencies,
    });
    await writeJson(join(directory, 'package-lock.json'), { name: 'all', lockfileVersion: 3, packages: {} });
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', 'git@github.com:owner/leaf.git');
    await git('config', 'user.name', 'test');
    await git('config', 'user.email', 'test@example.org');
    const { file, publicKey } = await makeKey('own');
    await git('config', 'gpg.format', 'ssh');
    await git('config', 'user.signingKey', file);
    await mkdir(join(directory, '.github'));
    await writeFile(join(directory, '.github/allowed_signers'), `test@example.org namespaces="git" ${publicKey}`);
    await commitAll();
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** A key outside the working tree. */
  async function makeKey(name: string): Promise<{ file: string; publicKey: string }> {
    const file = join(directory, '.git', name);
    await command('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file], directory);
    return { file, publicKey: await readFile(`${file}.pub`, 'utf8') };
  }

  function git(...args: string[]): Promise<string> {
    return command('git', args, directory);
  }

  async function commitAll(): Promise<void> {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'State');
  }

  function release(...args: string[]): Promise<string> {
    return command('node', ['scripts/release.mjs', ...args], directory);
  }

  function manifest(folder: string): Promise<Manifest> {
    return manifestOf(join(directory, folder));
  }

  it('dates the section, sets the version everywhere, commits and tags', async () => {
    await release('1.1.0');

    const changelog = await readFile(join(directory, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toMatch(/^## 1\.1\.0 \(\d{4}-\d\d-\d\d\)$/m);
    expect(changelog.replace(/\(\d{4}-\d\d-\d\d\)/, '(unreleased)')).toBe(CHANGELOG);
    for (const folder of ['.', 'libs/a', 'libs/b']) expect(await manifest(folder)).toMatchObject({ version: '1.1.0' });
    expect(await manifest('libs/b')).toMatchObject({ dependencies: { '@own/a': '~1.1.0' } });
    expect(await manifest('examples/one')).toMatchObject({
      version: '5.0.0',
      dependencies: { '@own/b': '~1.1.0', other: '^1.0.0' },
    });
    expect(await readFile(join(directory, 'deploy/compose.yaml'), 'utf8')).toBe('image: leaf-server:1.1.0\n');
    const chart = await readFile(join(directory, 'deploy/Chart.yaml'), 'utf8');
    expect(chart).toBe('apiVersion: v2\nversion: 1.1.0\nappVersion: 1.1.0\n');
    expect(await readFile(join(directory, 'package-lock.json'), 'utf8')).toContain('"@own/a": "~1.1.0"');

    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('log', '-1', '--format=%s')).toBe('Release 1.1.0\n');
    expect(await git('tag', '--list', '--format=%(refname:short)\n%(contents:subject)\n\n%(contents:body)')).toBe(
      'v1.1.0\nv1.1.0\n\n- **A thing** that is new.\n\n### Details\n\nMore.\n\n',
    );
  });

  it.each(['git@github.com:owner/leaf.git', 'https://github.com/owner/leaf', 'ssh://git@github.com/owner/leaf.git'])(
    'writes the address of the repository %s to the manifests of the packages',
    async (remote) => {
      await git('remote', 'set-url', 'origin', remote);
      await release('1.1.0');
      expect(await manifest('libs/b')).toMatchObject({
        repository: { type: 'git', url: 'git+https://github.com/owner/leaf.git', directory: 'libs/b' },
        bugs: { url: 'https://github.com/owner/leaf/issues' },
        homepage: 'https://github.com/owner/leaf/tree/main/libs/b#readme',
      });
      for (const folder of ['.', 'examples/one']) expect(await manifest(folder)).not.toHaveProperty('repository');
    },
  );

  it('sets the version of the clients in other languages, and tags that of Go', async () => {
    const coordinates = (version: string): string =>
      `<groupId>io.github.leaf-ids</groupId>\n  <artifactId>leaf-client</artifactId>\n  <version>${version}</version>`;
    const pom = (version: string): string =>
      `${coordinates(version)}\n<leaf.version>${version}</leaf.version>\n<version>1.0.0</version>\n`;
    const project = (version: string): string => `version = "${version}"\ndependencies = ["other == 1.0.0"]\n`;
    for (const folder of ['java', 'python']) await mkdir(join(directory, 'clients', folder), { recursive: true });
    await writeFile(join(directory, 'clients/java/pom.xml'), pom('1.0.0'));
    await writeFile(join(directory, 'clients/python/pyproject.toml'), project('1.0.0'));
    await commitAll();
    await release('1.1.0');
    expect(await readFile(join(directory, 'clients/java/pom.xml'), 'utf8')).toBe(pom('1.1.0'));
    expect(await readFile(join(directory, 'clients/python/pyproject.toml'), 'utf8')).toBe(project('1.1.0'));
    expect(await git('tag', '--list')).toBe('clients/go/v1.1.0\nv1.1.0\n');
  });

  it('links the pages that the READMEs of packages name to the version', async () => {
    const readme = join(directory, 'libs/b/README.md');
    await writeFile(readme, 'See `docs/a.md#b`, `examples/one` and `leaf`.\n');
    await commitAll();
    await release('1.1.0');
    const links = (version: string): string => {
      const url = `https://github.com/owner/leaf/blob/v${version}`;
      return `See [\`docs/a.md#b\`](${url}/docs/a.md#b), [\`examples/one\`](${url}/examples/one) and \`leaf\`.\n`;
    };
    expect(await readFile(readme, 'utf8')).toBe(links('1.1.0'));
    const changelog = await readFile(join(directory, 'CHANGELOG.md'), 'utf8');
    await writeFile(join(directory, 'CHANGELOG.md'), `${changelog}\n## 1.2.0 (unreleased)\n\nMore.\n`);
    await commitAll();
    await release('1.2.0');
    expect(await readFile(readme, 'utf8')).toBe(links('1.2.0'));
  });

  it.each(['/srv/leaf', '../leaf.git', undefined])(
    'refuses the remote %s, which packages cannot name',
    async (remote) => {
      await (remote === undefined ? git('remote', 'remove', 'origin') : git('remote', 'set-url', 'origin', remote));
      await expect(release('1.1.0')).rejects.toThrow('The git remote origin is not the address of a repository');
      expect(await git('tag', '--list')).toBe('');
    },
  );

  it('changes nothing by a dry run, and shows what it would change', async () => {
    const output = await release('1.1.0', '--dry-run');
    expect(output).toContain('- **A thing** that is new.');
    for (const file of ['CHANGELOG.md', 'libs/b/package.json', 'deploy/compose.yaml']) expect(output).toContain(file);
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('tag', '--list')).toBe('');
  });

  it.each([
    ['a key that is missing', 'missing'],
    ['a key that the repository does not name', 'other'],
  ])('changes nothing with %s', async (_, name) => {
    await makeKey('other');
    await git('config', 'user.signingKey', join(directory, '.git', name));
    await expect(release('1.1.0')).rejects.toThrow('could not be signed with a key of .github/allowed_signers');
    expect(await git('log', '-1', '--format=%s')).toBe('State\n');
    expect([await git('tag', '--list'), await git('status', '--porcelain')]).toEqual(['', '']);
  });

  describe('node scripts/verify-release.mjs', () => {
    const verify = (...args: string[]): Promise<string> =>
      command('node', ['scripts/verify-release.mjs', ...args], directory);

    it('accepts the tags of a release, by the keys of the repository or of a file', async () => {
      await mkdir(join(directory, 'clients'));
      await writeFile(join(directory, 'clients/README.md'), '');
      await commitAll();
      await release('1.1.0');
      expect(await verify('v1.1.0')).toMatch(/^v1\.1\.0 is signed, and names the commit [0-9a-f]{40}\.\n$/);
      const signers = join(directory, '.git/signers');
      await writeFile(signers, await readFile(join(directory, '.github/allowed_signers')));
      await writeFile(join(directory, '.github/allowed_signers'), '# None.\n');
      await expect(verify('v1.1.0')).rejects.toThrow('names no key');
      expect(await verify('v1.1.0', '--signers', signers)).toContain('is signed');
    });

    it('refuses a tag without a signature, of another key, of another version, and one that is missing', async () => {
      await release('1.1.0');
      await git('tag', '--annotate', '--force', '--message', 'v1.1.0', 'v1.1.0', 'v1.1.0^{commit}');
      await expect(verify('v1.1.0')).rejects.toThrow('The tag v1.1.0 is not signed by a key of');
      const resign = (name: string, commit: string): Promise<string> =>
        git('tag', '--sign', '--force', '--message', name, name, commit);
      await resign('v1.2.0', 'HEAD');
      await expect(verify('v1.2.0')).rejects.toThrow('package.json of v1.2.0 has the version 1.1.0');
      await git('config', 'user.signingKey', (await makeKey('other')).file);
      await resign('v1.1.0', 'HEAD');
      await expect(verify('v1.1.0')).rejects.toThrow('The tag v1.1.0 is not signed by a key of');
      await expect(verify('v1.3.0')).rejects.toThrow('Tag v1.3.0 does not exist. Fetch it');
      await expect(verify('1.1.0')).rejects.toThrow('Usage: node scripts/verify-release.mjs');
    });

    it('refuses a tag of the Go module that is missing or names another commit', async () => {
      await mkdir(join(directory, 'clients'));
      await writeFile(join(directory, 'clients/README.md'), '');
      await commitAll();
      await release('1.1.0');
      await git('tag', '--sign', '--force', '--message', 'go', 'clients/go/v1.1.0', 'HEAD^');
      await expect(verify('v1.1.0')).rejects.toThrow('name different commits');
      await git('tag', '--delete', 'clients/go/v1.1.0');
      await expect(verify('v1.1.0')).rejects.toThrow('Tag clients/go/v1.1.0 does not exist');
    });
  });

  it('refuses an invalid version, a missing section, an existing tag, and a tree with changes', async () => {
    await expect(release('next')).rejects.toThrow('Usage: node scripts/release.mjs');
    await expect(release('1.2.0')).rejects.toThrow('CHANGELOG.md has no section "## 1.2.0 (unreleased)"');
    await git('tag', 'v1.1.0');
    await expect(release('1.1.0')).rejects.toThrow('The tag v1.1.0 already exists');
    await git('tag', '--delete', 'v1.1.0');
    await writeFile(join(directory, 'deploy/compose.yaml'), 'image: other\n');
    await expect(release('1.1.0')).rejects.toThrow('There are uncommitted changes');
    await writeFile(join(directory, 'CHANGELOG.md'), '## 1.1.0 (unreleased)\n\n## 1.0.0\n');
    await commitAll();
    await expect(release('1.1.0')).rejects.toThrow('is empty');
    expect(await git('tag', '--list')).toBe('');
  });
});
