import { LeafError } from '@leaf-ids/core';
import { reasonOf, type WorkerWindow, type WorkerWindows } from '@leaf-ids/core/internal';
import type { Ledger } from '../ledger';
import type { SimPlace } from '../places';
import type { Actor, Scheduler } from '../scheduler';
import type { SeededRandom } from '../../../support/seeded-random';

/** A client process, as the network sees it. */
export interface ClientCaller extends Actor {
  readonly random: SeededRandom;
  /** True milliseconds until which it reaches nobody. */
  readonly cutUntil: number;
}

/** A request of a client, which any server can carry out. */
export type ClientRequest = (windows: WorkerWindows) => Promise<WorkerWindow | undefined>;
export type ClientAnswer = WorkerWindow | LeafError | undefined;

/** The network between clients and servers. It loses, delays and repeats requests, and loses and delays answers. */
export class ClientHop {
  constructor(
    private readonly scheduler: Scheduler,
    private readonly ledger: Ledger,
    private readonly places: readonly SimPlace[],
  ) {}

  send(client: ClientCaller, label: string, request: ClientRequest, onAnswer: (answer: ClientAnswer) => void): void {
    const { random } = client;
    const copies = random.chance(0.2) ? 2 + random.below(2) : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (random.chance(0.08)) continue;
      const place = this.places[random.below(this.places.length)];
      this.scheduler.at(this.scheduler.now + delay(random), `${label} of ${client.name} arrives`, () => {
        const server = place?.process;
        if (!server?.alive || this.isCut(client)) return;
        const serve = (): void => {
          const reply = (answer: ClientAnswer): void => this.reply(client, server.clock.local, label, answer, onAnswer);
          request(server.windows).then(reply, (error: unknown) => {
            if (error instanceof LeafError) reply(error);
            else this.ledger.breach('error', `${server.name}: ${label}: ${reasonOf(error)}`);
          });
        };
        this.scheduler.at(this.scheduler.now, `${label} served`, serve, server);
      });
    }
  }

  private reply(
    client: ClientCaller,
    at: number,
    label: string,
    answer: ClientAnswer,
    onAnswer: (answer: ClientAnswer) => void,
  ): void {
    if (client.random.chance(0.08)) return;
    const arrive = (): void => {
      if (!this.isCut(client)) onAnswer(answer);
    };
    this.scheduler.at(at + delay(client.random), `${label} answered`, arrive, client);
  }

  private isCut({ cutUntil }: ClientCaller): boolean {
    return this.scheduler.now < cutUntil;
  }
}

function delay(random: SeededRandom): number {
  return random.chance(0.06) ? random.spread(100, 60_000) : random.spread(0.2, 30);
}
