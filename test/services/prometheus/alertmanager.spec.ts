import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../support/build';
import { freePort } from '../../support/free-port';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { requireTool } from '../../support/tools';
import { until } from '../../support/until';

type Labels = Readonly<Record<string, string>>;

interface Notification {
  readonly receiver: string;
  readonly alerts: readonly { readonly labels: Labels }[];
}

const SERVERS = ['a', 'b', 'c'];
const { groups } = parse(readFileSync(join(ROOT, 'deploy/prometheus/leaf.rules.yaml'), 'utf8')) as {
  groups: readonly { readonly rules: readonly { readonly alert?: string; readonly labels?: Labels }[] }[];
};
const severities = new Map(groups.flatMap(({ rules }) => rules.map(({ alert, labels }) => [alert, labels?.severity])));

const alertOf = (alertname: string, labels: Labels = {}): Labels => ({
  ...{ alertname, severity: severities.get(alertname)!, namespace: 'one', job: 'leaf' },
  ...labels,
});
const ofEach = (alertname: string): Labels[] => SERVERS.map((instance) => alertOf(alertname, { instance }));

describe('Alertmanager with deploy/prometheus/alertmanager.yaml', () => {
  let directory: string;
  let receiver: Server;
  let received: Notification[];
  let url: string;
  let end: () => Promise<void>;

  beforeEach(async () => {
    directory = await makeDataDirectory();
    received = [];
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push(JSON.parse(Buffer.concat(chunks).toString()) as Notification);
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    await start();
  });

  afterEach(async () => {
    await end();
    receiver.close();
    receiver.closeAllConnections();
    await removeDataDirectory(directory);
  });

  /** With the shipped configuration, but for the receivers, and shorter waits. */
  async function start(): Promise<void> {
    const shipped = await readFile(join(ROOT, 'deploy/prometheus/alertmanager.yaml'), 'utf8');
    const { port } = receiver.address() as AddressInfo;
    const webhook = `    webhook_configs: [{ url: 'http://127.0.0.1:${port}', send_resolved: false }]`;
    const config = shipped
      .replaceAll(/^ {2}- name: .*$/gm, (line) => `${line}\n${webhook}`)
      .replace('group_wait: 30s', 'group_wait: 2s');
    expect(config.match(/webhook_configs/g)).toHaveLength(3);
    expect(config).toContain('group_wait: 2s');
    await writeFile(join(directory, 'alertmanager.yaml'), config);
    const own = await freePort();
    url = `http://127.0.0.1:${own}`;
    const process = spawn(
      await requireTool('prometheus-alertmanager'),
      [
        `--config.file=${join(directory, 'alertmanager.yaml')}`,
        `--storage.path=${directory}`,
        `--web.listen-address=127.0.0.1:${own}`,
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    );
    const ended = once(process, 'exit');
    end = async () => {
      process.kill('SIGKILL');
      await ended;
    };
    await until('Alertmanager', async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true);
  }

  /** @returns the names of what was notified, by receiver, when each of two has its first notification */
  async function notified(alerts: readonly Labels[]): Promise<Record<string, string[]>> {
    const body = JSON.stringify(alerts.map((labels) => ({ labels })));
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body });
    expect(status).toBe(200);
    await until('two notifications', () => received.length >= 2);
    const names = (each: Notification): string[] => each.alerts.map(({ labels }) => labels.alertname!).sort();
    return Object.fromEntries(received.map((each) => [each.receiver, names(each)]));
  }

  it('reports a full disk of the database once, and what does not follow from it', async () => {
    const exhausted = SERVERS.flatMap((instance) =>
      ['order', 'user'].map((tag) => alertOf('LeafSegmentExhaustion', { instance, tag })),
    );
    const alerts = [
      alertOf('LeafDatabaseFails'),
      ...exhausted,
      ...['LeafSegmentLoadFailures', 'LeafServerErrors', 'LeafCommandErrors', 'LeafSlow'].flatMap(ofEach),
      ...['LeafRegistryReportFailures', 'LeafRegistryMaintenanceFailures', 'LeafLeaseNearEnd', 'LeafNotReady'].flatMap(
        ofEach,
      ),
      alertOf('LeafLeaseLost', { instance: 'b' }),
      alertOf('LeafLogLinesDropped', { instance: 'a' }),
    ];
    expect(alerts.length).toBeGreaterThan(30);
    const found = await notified(alerts);
    expect(found).toEqual({
      page: ['LeafDatabaseFails', 'LeafLeaseLost'],
      'next-morning': ['LeafLogLinesDropped'],
    });
  });

  it('reports each server while most of them have the database', async () => {
    const alerts = [alertOf('LeafServerErrors', { instance: 'a' }), ...ofEach('LeafSegmentLoadFailures')];
    expect(await notified(alerts)).toEqual({
      page: ['LeafServerErrors'],
      'next-morning': ['LeafSegmentLoadFailures', 'LeafSegmentLoadFailures'],
    });
  });

  it('reports servers that are down once, and a tag that ends soon once', async () => {
    const alerts = [
      alertOf('LeafServersDown'),
      ...ofEach('LeafServerDown'),
      alertOf('LeafTagEndImminent', { tag: 'order' }),
      ...['order', 'user'].map((tag) => alertOf('LeafTagEndNear', { tag })),
    ];
    expect(await notified(alerts)).toEqual({
      page: ['LeafServersDown', 'LeafTagEndImminent'],
      'next-morning': ['LeafTagEndNear'],
    });
  });
});
