import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { VARIABLES } from '../../../apps/leaf-server/src/config/variables';
import { ROOT, SERVER_FILE } from '../../support/build';
import { all, readStages, type Stage } from '../../support/deploy/dockerfile';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const stages = readStages();
const last = stages.at(-1)!;

/** The paths that a stage takes from the repository. */
function copied(stage: Stage): string[] {
  const sources = all('COPY', stage).filter((rest) => !rest.startsWith('--from='));
  return sources.flatMap((rest) => rest.split(' ').slice(0, -1));
}

/** What gets past .dockerignore: the lines that begin with an exclamation mark. */
const context = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path]) => path!);

describe('deploy/docker/Dockerfile', () => {
  it('copies what there is, and what .dockerignore lets through', () => {
    for (const path of stages.flatMap(copied)) {
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
      expect(context).toContain(path);
    }
    expect([...context].sort()).toEqual([...new Set(stages.flatMap(copied))].sort());
  });

  it('lets no settings, data or history into the build', () => {
    expect(read('.dockerignore')).toMatch(/^\*$/m);
    expect(read('.dockerignore')).toMatch(/^\*\*\/\.env$/m);
    for (const path of ['.env', '.git', 'data', 'dist', 'node_modules', 'deploy']) expect(context).not.toContain(path);
  });

  it('gives the build all that it reads', () => {
    const lists = [...read('scripts/ensure-build.mjs').matchAll(/(?:settings|sources): \[(.*?)\]/g)];
    const needed = lists.flatMap(([, list]) => [...list!.matchAll(/'(.*?)'/g)].map(([, path]) => path!));
    expect(needed).toEqual(
      expect.arrayContaining(['apps/leaf-server', 'apps/leaf-console', 'libs', 'migrations', 'tsconfig.json']),
    );
    const paths = copied(stages.find(({ name }) => name === 'build')!);
    const missing = needed.filter((path) => !paths.some((given) => path === given || path.startsWith(`${given}/`)));
    expect(missing).toStrictEqual([]);
  });

  it('copies between stages that there are, and installs before it copies sources', () => {
    const names = stages.map(({ name }) => name);
    const sources = all('COPY', last).flatMap((rest) => /^--from=(\S+)/.exec(rest)?.[1] ?? []);
    expect([...new Set(sources)]).toEqual(['runtime', 'build']);
    expect(names).toEqual(['packages', 'build', 'runtime', '']);
    for (const { instructions } of stages.slice(0, 2)) {
      const order = instructions.map(([name, rest]) => `${name} ${rest}`);
      const install = order.findIndex((line) => line.includes('npm ci'));
      expect(order.slice(0, install).filter((line) => line.startsWith('COPY'))).toEqual([
        'COPY package.json package-lock.json ./',
      ]);
    }
  });

  it('ships what one script makes of the build and of the production packages', () => {
    const [install = ''] = all('RUN', stages[0]!);
    expect(install).toContain('npm ci --omit=dev');
    expect(install).toContain(`node -e "require('zookeeper')"`);
    const build = stages[1]!;
    expect(all('COPY', build)).toContain('--from=packages /app/node_modules /packages/node_modules');
    // The e2e tier runs that script, and the server with what it makes alone.
    expect(all('RUN', build).at(-1)).toBe('npm run build && node scripts/image-packages.mjs /packages /image');
    expect(all('COPY', stages[2]!)).toEqual(['--from=build /image/node_modules /packages']);
    expect(all('COPY', last)).toContain('--from=build /image ./');
    expect(all('ENV', last).join(' ')).toContain('NODE_ENV=production');
  });

  it('ships of Debian only Node.js and libraries, on the same release as the native packages', () => {
    expect(last.image).toBe('scratch');
    expect(all('RUN', last)).toStrictEqual([]);
    const images = stages.slice(0, 3).map(({ image }) => image);
    expect(images).toEqual(['node:${NODE}', 'node:${NODE}', 'node:${NODE}-slim']);
    const [collect = '', ...more] = all('RUN', stages[2]!);
    expect(more).toStrictEqual([]);
    // `cp` of single files into /runtime, which contains no shell then.
    const copied = [...collect.matchAll(/ cp (\S+) \/runtime/g)].map(([, file]) => file);
    expect(copied).toEqual(['/usr/local/bin/node', '/etc/nsswitch.conf']);
    expect(all('COPY', last)[0]).toBe('--from=runtime /runtime /');
  });

  it('starts what the build makes, without a shell', () => {
    const [command = '[]', ...more] = all('CMD', last);
    expect(more).toStrictEqual([]);
    const [node, file = ''] = JSON.parse(command) as string[];
    expect(node).toBe('node');
    expect(join(ROOT, file)).toBe(SERVER_FILE);
    // The e2e tier builds it, and starts that very file.
    expect(all('WORKDIR', last)).toEqual(['/app']);
  });

  it('runs as a user who is not root and owns the data directory', () => {
    const [user = ''] = all('USER', last);
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const [directory] = all('VOLUME', last);
    expect(all('ENV', last).join(' ')).toContain(`LEAF_DATA_DIR=${directory}`);
    expect(all('COPY', last)).toContain(`--from=runtime --chown=${user} /empty ${directory}`);
  });

  it('sets variables that there are, and none that is a secret', () => {
    const set = [
      ...all('ENV', last)
        .join(' ')
        .matchAll(/(LEAF_\w+)=/g),
    ].map(([, name]) => name!);
    for (const name of set) expect([name, VARIABLES[name as keyof typeof VARIABLES].secret]).toEqual([name, false]);
    expect(stages.flatMap((stage) => all('ARG', stage))).toStrictEqual([]);
  });

  it('has a health check', () => {
    const [check = ''] = all('HEALTHCHECK', last);
    const [node, flag, program = ''] = JSON.parse(check.slice(check.indexOf('['))) as string[];
    expect([node, flag]).toEqual(['node', '-e']);
    expect(program).toContain('/health/live');
    expect(program).toContain(VARIABLES.LEAF_PORT.default);
  });
});

describe('deploy/compose/compose.yaml', () => {
  const { services, volumes } = parse(read('deploy/compose/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, null>;
  };
  const servers = Object.entries(services).filter(([name]) => name.startsWith('leaf-'));
  const backends = Object.entries(services).filter(([name]) => !name.startsWith('leaf-'));

  it('has three servers of Leaf, each with a port and a volume of its own', () => {
    expect(servers.map(([name]) => name)).toEqual(['leaf-1', 'leaf-2', 'leaf-3']);
    const ports = servers.map(([, service]) => service.ports?.[0]);
    expect(new Set(ports).size).toBe(3);
    for (const port of ports) expect(port).toMatch(new RegExp(`^\\d+:${VARIABLES.LEAF_PORT.default}$`));
    const own = servers.map(([, service]) => service.volumes?.[0]);
    expect(own).toEqual(servers.map(([name]) => `${name}:${all('VOLUME', last)[0]}`));
  });

  it('names volumes that it has', () => {
    const used = Object.values(services).flatMap((service) => service.volumes ?? []);
    expect(used.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(volumes).sort());
  });

  it('builds the servers from the Dockerfile', () => {
    for (const [, { build }] of servers) {
      const folder = join(ROOT, 'deploy/compose', build!.context);
      expect(existsSync(join(folder, build!.dockerfile))).toBe(true);
      expect(folder).toBe(join(ROOT));
    }
  });

  it('sets variables that there are, to hosts that there are', () => {
    for (const [, { environment = {} }] of servers) {
      for (const name of Object.keys(environment)) expect(VARIABLES).toHaveProperty(name);
      const url = environment.LEAF_DATABASE_URL!.replace(/\$\{\w+:-(\w+)\}/, '$1');
      expect(() => VARIABLES.LEAF_DATABASE_URL.parse(url)).not.toThrow();
      expect(services).toHaveProperty(new URL(url).hostname);
      // No token that everybody knows.
      expect(environment.LEAF_ADMIN_TOKEN).toMatch(/^\$\{LEAF_ADMIN_TOKEN:\?/);
    }
  });

  it('gives MariaDB the user, the password and the database that the servers use', () => {
    const { MARIADB_USER, MARIADB_PASSWORD, MARIADB_DATABASE } = services.mariadb!.environment!;
    const url = `mysql://${MARIADB_USER}:${MARIADB_PASSWORD}@mariadb:3306/${MARIADB_DATABASE}`;
    for (const [, { environment }] of servers) expect(environment?.LEAF_DATABASE_URL).toBe(url);
  });

  it('starts the servers when those that they need are healthy, and can tell that', () => {
    const needed = Object.fromEntries(backends.map(([name]) => [name, { condition: 'service_healthy' }]));
    for (const [, { depends_on }] of servers) expect(depends_on).toEqual(needed);
    for (const [, { image, healthcheck }] of backends) {
      expect(image).toMatch(/^\w+:\d/);
      expect(healthcheck?.test[0]).toBe('CMD');
    }
  });

  it('gives a stop more time than the drain takes, and a root that is read only', () => {
    const drainMs = Number(VARIABLES.LEAF_SHUTDOWN_DRAIN_MS.default);
    for (const [, { stop_grace_period, read_only }] of servers) {
      expect(Number.parseInt(stop_grace_period!, 10) * 1000).toBeGreaterThanOrEqual(drainMs + 20_000);
      expect(read_only).toBe(true);
    }
  });
});
