import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atLeast, ratios, summarizeKnown, type Target } from '../report/figures';
import type { MeasuredRow } from '../rows';
import type { Cores } from './cores';
import { SNOWFLAKE_PATH } from './request';
import type { Sandbox } from './sandbox';
import type { ServerOptions } from './server-process';

export const LEAF = 'Leaf snowflake';
/** IDs per CPU second of Leaf, as ratios to those of peers. */
const WANTED = { 'Go net/http': 1.3, 'node:net': 0.7, 'node:http': 1.8 };
const BUILD_LIMIT_MS = 300_000;

const GO = `package main

import "net/http"
import "os"

func main() {
	id := []byte("1169786042799259000")
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain"}
		w.Write(id)
	})
	panic(http.ListenAndServe(os.Getenv("LEAF_HOST")+":"+os.Getenv("LEAF_PORT"), nil))
}
`;

const CARGO = `package = { name = "server", version = "0.0.0", edition = "2021" }
bin = [{ name = "server", path = "main.rs" }]
[dependencies]
hyper = { version = "1", features = ["http1", "server"] }
hyper-util = { version = "0.1", features = ["tokio"] }
http-body-util = "0.1"
tokio = { version = "1", features = ["net", "rt"] }
`;

const RUST = `use http_body_util::Full;
use hyper::{body::Bytes, header::CONTENT_TYPE, server::conn::http1, service::service_fn, Response};
use std::{convert::Infallible, env::var, error::Error};

async fn serve() -> Result<(), Box<dyn Error>> {
    let place = format!("{}:{}", var("LEAF_HOST")?, var("LEAF_PORT")?);
    let listener = tokio::net::TcpListener::bind(place).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = service_fn(|_| async {
            let id = Full::new(Bytes::from_static(b"1169786042799259000"));
            Ok::<_, Infallible>(Response::builder().header(CONTENT_TYPE, "text/plain").body(id).unwrap())
        });
        let stream = hyper_util::rt::TokioIo::new(stream);
        tokio::spawn(http1::Builder::new().serve_connection(stream, answer));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(serve())
}
`;

/** A server that is compiled for the run. */
interface CompiledPeer {
  readonly name: string;
  /** Debian's package with the compiler. */
  readonly needs: string;
  readonly files: Readonly<Record<string, string>>;
  /** Prints the version of the compiler and creates `server`. */
  readonly build: string;
}

export const COMPILED_PEERS: readonly CompiledPeer[] = [
  {
    ...{ name: 'Go net/http', needs: 'golang-go', files: { 'main.go': GO } },
    build: 'go version && go build -o server main.go',
  },
  {
    ...{ name: 'Rust hyper', needs: 'cargo', files: { 'main.rs': RUST, 'Cargo.toml': CARGO } },
    build: 'cargo --version && cargo build --quiet --release --target-dir . && mv release/server .',
  },
];

/** Builds a peer; undefined, with a line that says so, if that fails. */
export async function compilePeer(
  sandbox: Pick<Sandbox, 'folder' | 'run'>,
  cores: Cores,
  { name, needs, files, build }: CompiledPeer,
): Promise<ServerOptions | undefined> {
  const folder = sandbox.folder();
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  try {
    const version = await sandbox.run(['sh', '-c', `cd ${folder} && ${build}`], BUILD_LIMIT_MS);
    console.log(`${name}: ${version.trim()}`);
  } catch (error) {
    const reason = String(error).trim().replace(/\s+/g, ' ').slice(0, 500);
    console.error(`${name} is left out; it needs a current compiler, "apt-get install ${needs}". ${reason}`);
    return undefined;
  }
  const command = cores.server([join(folder, 'server')]);
  return { command, readyPath: SNOWFLAKE_PATH, env: { GOMAXPROCS: '1' } };
}

/** A peer that is a file of this folder. */
export function nodeServer(cores: Cores, file: string): ServerOptions {
  return { command: cores.server([process.execPath, join(__dirname, `${file}.js`)]), readyPath: SNOWFLAKE_PATH };
}

/** @param production whether Leaf had the set-up that the targets are for */
export function peerTargets(rows: readonly Pick<MeasuredRow, 'name' | 'rounds'>[], production: boolean): Target[] {
  const perCpu = (name: string): number[] =>
    rows.find((row) => row.name === name)?.rounds.map((rates) => rates.perCpu) ?? [];
  return Object.entries(WANTED).map(([peer, wanted]) => {
    const ratio = production ? summarizeKnown(ratios(perCpu(LEAF), perCpu(peer))) : undefined;
    return atLeast(`${LEAF} per CPU second, of ${peer}`, ratio?.median, wanted, 'ratio');
  });
}
