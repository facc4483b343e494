import type { JSX } from 'preact';
import type { Film } from './film';
import { seconds } from './seconds';
import type { LearnTexts } from './texts/en';
import type { FilmServer } from './world/film-server';
import { START } from './world/film-time';
import type { Action, FilmWorld } from './world/film-world';
import type { FilmControl } from './use-film';

interface ServerCardsProps {
  readonly t: LearnTexts;
  readonly film: Film;
  readonly run: FilmControl['run'];
}

/** What can happen to the servers and to the registry. */
export function ServerCards({ t, film, run }: ServerCardsProps): JSX.Element {
  const { world, ended } = film;
  const act = (action: Action): void => run((it) => it.world.act(action));
  return (
    <section class="card learn-servers" aria-label={t.servers}>
      <h2>{t.servers}</h2>
      <ul>
        {world.servers.map((server) => (
          <li key={server.name}>
            <p>
              <b>{server.name}</b> <span>{stateOf(server, world, t)}</span>
              <span class="soft num"> · {t.clockAt(seconds(server.clock.now() - START))}</span>
            </p>
            <div class="learn-acts">
              {actsOn(server, world, t).map(({ name, action }) => (
                <button
                  key={name}
                  type="button"
                  disabled={ended || action === undefined}
                  aria-label={t.actOn(name, server.name)}
                  onClick={() => action && act(action)}
                >
                  {name}
                </button>
              ))}
            </div>
          </li>
        ))}
        <li>
          <p>
            <b>{t.registry}</b>
          </p>
          <div class="learn-acts">
            <button type="button" disabled={ended} onClick={() => act({ do: 'empty' })}>
              {t.empty}
            </button>
          </div>
        </li>
      </ul>
    </section>
  );
}

export function stateOf(server: FilmServer, world: FilmWorld, t: LearnTexts): string {
  const process = world.processOf(server);
  if (process?.alive !== true) return t.isDown;
  const { tenure } = process.lease;
  const refusal = process.refusal === undefined ? t.issuing : t.refusing(process.refusal.code);
  const states = [
    tenure === undefined ? '' : t.holds(String(tenure.workerId)),
    server.paused ? t.isPaused : refusal,
    server.cut ? t.isCut : '',
  ];
  return states.filter((state) => state !== '').join(t.comma);
}

interface Act {
  readonly name: string;
  /** Undefined when it is not possible now. */
  readonly action: Action | undefined;
}

function actsOn(server: FilmServer, world: FilmWorld, t: LearnTexts): Act[] {
  const { name, paused, cut } = server;
  const isAlive = world.processOf(server)?.alive === true;
  return [
    {
      name: paused ? t.resume : t.pause,
      action: isAlive ? { do: paused ? 'resume' : 'pause', server: name } : undefined,
    },
    { name: isAlive ? t.crash : t.start, action: { do: isAlive ? 'crash' : 'start', server: name } },
    { name: t.stop, action: isAlive && !paused ? { do: 'stop', server: name } : undefined },
    { name: cut ? t.connect : t.cut, action: { do: cut ? 'connect' : 'cut', server: name } },
    { name: t.clockBack, action: { do: 'clock', server: name, ms: -3000 } },
    { name: t.clockAhead, action: { do: 'clock', server: name, ms: 3000 } },
  ];
}
