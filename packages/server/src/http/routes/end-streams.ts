import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Streams of server-sent events end with a `retry:` of a random delay. All clients of a node that stops would otherwise reconnect at the same
 * moment, to nodes that then have to authorize and answer thousands of requests at once.
 */

/** A client that is on its own waits this long: the load balancer has to notice first that the node is stopping. */
const retryMillisecondsMin = 500
const retrySpreadMillisecondsMin = 1000
/** A node that takes over authorizes and opens some thousands of streams per second. */
const millisecondsPerStream = 0.25
const drainMillisecondsMax = 5000
const tickMilliseconds = 20

/** How long it takes to end so many streams: the more, the longer, within a bound far below the time that a stop may take. */
const drainMillisecondsOf = (count: number): number => Math.min(drainMillisecondsMax, count * millisecondsPerStream)

/** The last frame of a stream, of a node that had so many. */
function retryFrame(count: number): string {
  const spread = Math.max(retrySpreadMillisecondsMin, drainMillisecondsOf(count))
  return `retry: ${Math.round(retryMillisecondsMin + Math.random() * spread)}\n\n`
}

/** Ends a stream whose client reconnects. */
export const endForReconnect = (response: ServerResponse, count = 1): void => {
  if (!response.writableEnded) endStream(response, retryFrame(count))
}

/** Ends streams one after another. Those that are already closed by then cost nothing. */
export async function drainStreams(streams: Iterable<ServerResponse>): Promise<void> {
  const open = [...streams]
  const milliseconds = drainMillisecondsOf(open.length)
  const start = performance.now()
  for (let ended = 0; ended < open.length; ) {
    const due = milliseconds === 0 ? 1 : Math.min(1, (performance.now() - start + tickMilliseconds) / milliseconds)
    for (; ended < Math.ceil(open.length * due); ended++) endForReconnect(open[ended]!, open.length)
    if (ended < open.length) await wait(tickMilliseconds)
  }
}

/** For the head of a stream. A kept connection would delay a stop, and its client could use it again in the moment in which it is closed. */
export const lastOnConnection = { connection: 'close' } as const

export const endStream = (response: ServerResponse, lastFrame = ''): void => {
  response.end(lastFrame)
}
