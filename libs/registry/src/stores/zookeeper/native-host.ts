import type { NativeClient, NativeClientClass, NativeConfig } from './native-client';
import type { ZookeeperAuth } from './zookeeper-address';

/** The client calls that a request may name. All take a callback as their last argument. */
export type NativeCall =
  'a_exists' | 'a_get' | 'a_set' | 'a_create' | 'a_delete_' | 'a_get_children' | 'a_set_acl' | 'a_sync';

/**
 * `open` is the first request and is sent once. `ping` does not use ZooKeeper: a response shows that the process is not
 * blocked.
 */
export type HostRequest =
  | { readonly id: number; readonly method: 'open'; readonly args: HostOpening }
  | { readonly id: number; readonly method: 'ping'; readonly args: [] }
  | { readonly id: number; readonly method: NativeCall; readonly args: readonly unknown[] };

/** Path of the client package, connection options and credentials. */
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
  /** The last report: the package is installed, but does not load. */
  | { readonly kind: 'unloadable'; readonly problem: string };

/**
 * The program of the child process that runs the native client. It is started from its source text, so it must not use
 * anything outside its body except types and Node.js globals.
 *
 * It serves one connection. When the connection is lost, the process kills itself with SIGKILL, so that no client code
 * runs afterwards; the session stays open for the next connection. When the parent disconnects or exits, the process
 * first ends the session at the server. It ignores SIGINT, SIGTERM and SIGHUP, which terminals and init systems send to
 * the whole process group: the parent handles them.
 */
export function nativeHost(load: (path: string) => unknown): void {
  /** Connecting, associating, connected. In any other state the client has no socket. */
  const live = [1, 2, 3];
  let client: NativeClient | undefined;

  function die(): void {
    process.kill(process.pid, 'SIGKILL');
  }

  /** The callback receives the error if the parent has exited; without a callback, Node.js would print it. */
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
    // The callback is required: without it, the process aborts. The first request reports authentication errors.
    if (auth !== undefined) made.add_auth(auth.scheme, auth.credentials, () => undefined);
    // The response to the first request arrives after the session and the authentication are established. A server that
    // lags behind first catches up, so that no later read lacks what this client wrote over another connection.
    submit(made, 'a_sync', ['/'], (code, sent) => {
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
