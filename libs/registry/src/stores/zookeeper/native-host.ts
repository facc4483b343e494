import type { NativeClient, NativeClientClass, NativeConfig } from './native-client';
import type { ZookeeperAuth } from './zookeeper-address';

/** The calls of the client that may be asked for by name: all take a callback as their last argument. */
export type NativeCall = 'a_exists' | 'a_get' | 'a_set' | 'a_create' | 'a_delete_' | 'a_get_children' | 'a_set_acl';

/** `open` comes first, and once. `ping` asks nothing of ZooKeeper: whoever answers it is not stuck. */
export type HostRequest =
  | { readonly id: number; readonly method: 'open'; readonly args: HostOpening }
  | { readonly id: number; readonly method: 'ping'; readonly args: [] }
  | { readonly id: number; readonly method: NativeCall; readonly args: readonly unknown[] };

/** Where the client package is, how to connect, and as whom. */
export type HostOpening = [path: string, config: NativeConfig, auth: ZookeeperAuth | undefined];

export type HostReport =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly code: number;
      readonly sent: boolean;
      readonly results: readonly unknown[];
    }
  /** The last report. The code says what happened to the session; 0: the connection was lost. */
  | { readonly kind: 'lost'; readonly code: number }
  /** The last report: the package is there, but does not load. */
  | { readonly kind: 'unloadable'; readonly problem: string };

/**
 * The program of the process that the native client lives in, started as text: it must not use anything from outside of
 * its own braces, except for types and the globals of Node.
 *
 * It serves one connection. Whatever shows that this is lost ends the process, by SIGKILL, so that no code of the client
 * runs any more; the session stays for the next connection. When its parent lets it go or is gone, it ends the session
 * at the server first. Other signals, which a terminal or an init system sends to a whole group, are for the parent.
 */
export function nativeHost(load: (path: string) => unknown): void {
  /** Connecting, associating, connected: in any other state the client has no socket. */
  const live = [1, 2, 3];
  let client: NativeClient | undefined;

  function die(): void {
    process.kill(process.pid, 'SIGKILL');
  }

  /** A parent that is gone reads nothing; without somebody to hear of it, that would be printed. */
  function report(message: HostReport, done = (): void => undefined): void {
    process.send?.(message, undefined, undefined, done);
  }

  function lose(code: number): void {
    report({ kind: 'lost', code }, die);
  }

  function answer(id: number, code: number, sent: boolean, results: readonly unknown[]): void {
    report({ kind: 'answer', id, code, sent, results });
  }

  function open(id: number, [path, config, auth]: HostOpening): void {
    let Client: NativeClientClass;
    try {
      Client = load(path) as NativeClientClass;
    } catch (error) {
      report({ kind: 'unloadable', problem: String(error) }, die);
      return;
    }
    const made = new Client(config);
    client = made;
    made.on('connecting', () => lose(0));
    made.on('close', (_client, code) => lose(code));
    made.init({});
    // Its callback says nothing that the first question does not say; left out, the process would abort.
    if (auth !== undefined) made.add_auth(auth.scheme, auth.credentials, () => undefined);
    // The answer to a first question waits for the session and the authentication.
    submit(made, 'a_exists', ['/', false], (code, sent) => {
      answer(id, code, sent, [{ client_id: made.client_id, client_password: made.client_password }]);
    });
  }

  function submit(
    target: NativeClient,
    method: NativeCall,
    args: readonly unknown[],
    done: (code: number, sent: boolean, results: readonly unknown[]) => void,
  ): void {
    const calls = target as unknown as Record<NativeCall, (...all: unknown[]) => number>;
    const refused = calls[method](...args, (code: number, _text: string, ...results: unknown[]) => {
      done(code, true, results);
      if (!live.includes(target.state)) lose(0);
    });
    if (refused !== 0) done(refused, false, []);
    if (!live.includes(target.state)) lose(0);
  }

  process.title = 'leaf: zookeeper';
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  process.on('disconnect', () => {
    try {
      client?.close();
    } finally {
      die();
    }
  });
  process.on('message', (message) => {
    const request = message as HostRequest;
    const { id } = request;
    if (request.method === 'open') open(id, request.args);
    else if (request.method === 'ping') answer(id, 0, true, []);
    else if (client !== undefined) {
      submit(client, request.method, request.args, (code, sent, results) => answer(id, code, sent, results));
    }
  });
}
