import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { problemResponse } from '../server/problem-response.ts'

/** Says which step is begun. Throws when nobody listens any more, which is how work is given up. */
export type Tell = (step: string) => void

/** Work that takes a while and is told about step by step. */
export type Work<Body> = (tell: Tell) => Promise<Body>

export const progressType = 'application/x-ndjson'

export const wantsProgress = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some(part => part.split(';', 1)[0]?.trim().toLowerCase() === progressType)

class ListenerGone extends Error {}

/**
 * Answers with lines of JSON: `{"step": …}` for each step, and as the last one the answer itself, as `{"status": …, "body": …}`. A line
 * can tell of a problem only afterwards, so the status of the whole is 200 whatever comes of it.
 */
export function sendProgress(reply: FastifyReply, status: number, work: Work<unknown>): FastifyReply {
  const lines = new PassThrough()
  const write = (line: unknown) => lines.write(`${JSON.stringify(line)}\n`)
  const tell: Tell = step => {
    if (reply.raw.destroyed) throw new ListenerGone()
    write({ step })
  }
  work(tell)
    .then(body => write({ status, body }))
    .catch(error => {
      if (error instanceof ListenerGone) return
      const problem = problemResponse(error)
      if (problem.status >= 500) reply.log.error({ err: error }, 'work failed')
      write({ status: problem.status, body: problem.body })
    })
    .finally(() => lines.end())
  return reply.code(200).type(progressType).header('x-accel-buffering', 'no').send(lines)
}
