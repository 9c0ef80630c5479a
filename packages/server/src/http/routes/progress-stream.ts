import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { problemResponse } from '../server/problem-response.ts'
import type { StreamGuard } from './stream-guard.ts'

/** Reports that a step begins. Throws when the client has disconnected, which cancels the work. */
export type ReportStep = (step: string) => void

/** Long work that reports its steps. */
export type Work<Body> = (report: ReportStep) => Promise<Body>

export const progressType = 'application/x-ndjson'

export const wantsProgress = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some(part => part.split(';', 1)[0]?.trim().toLowerCase() === progressType)

class ClientGone extends Error {}

/**
 * Streams JSON lines: `{"step": …}` for each step, and the response as the last one, as `{"status": …, "body": …}`. The
 * HTTP status is always 200, because a problem is known only later. A caller that loses access is disconnected, which cancels
 * the work.
 */
export function sendProgress(
  reply: FastifyReply,
  status: number,
  work: Work<unknown>,
  guard: StreamGuard,
  check: () => Promise<unknown>,
): FastifyReply {
  const lines = new PassThrough()
  const write = (line: unknown) => lines.write(`${JSON.stringify(line)}\n`)
  const report: ReportStep = step => {
    if (reply.raw.destroyed) throw new ClientGone()
    write({ step })
  }
  guard.watch({ response: reply.raw, check, onRefused: response => response.destroy() })
  work(report)
    .then(body => write({ status, body }))
    .catch(error => {
      if (error instanceof ClientGone) return
      const problem = problemResponse(error)
      if (problem.status >= 500) reply.log.error({ err: error }, 'work failed')
      write({ status: problem.status, body: problem.body })
    })
    .finally(() => lines.end())
  return reply.code(200).type(progressType).header('x-accel-buffering', 'no').send(lines)
}
