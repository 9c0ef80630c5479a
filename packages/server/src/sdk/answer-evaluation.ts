import { type EvaluationRequest, readEvaluationRequest } from '../evaluation/evaluation-request.ts'
import { type Evaluation, type Evaluator, isAsking } from '../evaluation/evaluator.ts'
import type { Asking } from '../evaluation/gather-subject.ts'
import type { Headers } from '../evaluation/request-runtime.ts'
import type { ServedProject } from '../evaluation/served-project.ts'
import type { Snapshots } from '../evaluation/snapshots.ts'
import { type AnswerRoom, ownRoom } from '../http/answer-room.ts'
import { type AnswerBody, bodyFrom } from '../http/quick-answer.ts'
import { invalid, Problem } from '../problem.ts'
import { type EvaluationAddress, isTrue } from './evaluation-address.ts'
import type { EvaluationCounts } from './evaluation-counts.ts'
import { createFastAnswers } from './fast-answer.ts'
import { type Envelope, plainAnswer } from './plain-answer.ts'
import { createToldConfigs } from './remote-config.ts'
import { createRequestIds } from './request-ids.ts'

/** Answers requests to evaluate, as the client libraries make them. */
export interface AnswerEvaluation {
  /** The JSON to answer with. Raises `unauthenticated`, `invalid`, `unavailable`. */
  whenReady(address: EvaluationAddress, headers: Headers, body: unknown): Promise<Buffer>
  /** The same in a room, if it takes nothing that is not in memory; else undefined. */
  atOnce(address: EvaluationAddress, headers: Headers, body: unknown, room: AnswerRoom): AnswerBody | undefined
}

interface Deps {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
  readonly counts: EvaluationCounts
  readonly now?: () => number
}

export function createAnswerEvaluation({ snapshots, evaluator, counts, now = Date.now }: Deps): AnswerEvaluation {
  const fastAnswers = createFastAnswers()
  const toldConfigs = createToldConfigs()
  const nextId = createRequestIds()

  /** Most answers are copied from prepared pieces. */
  function tell(
    served: ServedProject,
    { shape, config }: EvaluationAddress,
    { keys }: EvaluationRequest,
    { outcomes, eligible, isIncomplete }: Evaluation,
    room: AnswerRoom,
  ): AnswerBody {
    counts.add(eligible.length)
    const envelope: Envelope = {
      requestId: nextId(),
      evaluatedAt: now(),
      hasErrors: isIncomplete,
      config: config === 'none' ? undefined : toldConfigs(served, config),
      hasPayloadMap: keys !== undefined,
    }
    if (shape === 'details' && keys === undefined) return fastAnswers(served)(outcomes, eligible, envelope, room)
    const answer = plainAnswer(served.snapshot.flags, outcomes, eligible, shape, envelope)
    return bodyFrom(room, Buffer.from(JSON.stringify(answer)))
  }

  async function projectOf(request: EvaluationRequest, query: EvaluationAddress['query']): Promise<ServedProject> {
    const token = request.token ?? query.token ?? query.api_key
    if (token === undefined) throw new Problem('unauthenticated', 'Send the project token as "token" or "api_key".')
    const served = snapshots.known(token) ?? (await snapshots.forToken(token))
    if (!served) throw new Problem('unauthenticated', 'No project has this token.')
    return served
  }

  return {
    async whenReady(address, headers, body) {
      const { query } = address
      const request = readEvaluationRequest(body, headers)
      const served = await projectOf(request, query)
      const onlySurveys = isTrue(query.only_evaluate_survey_feature_flags)
      const evaluation = request.isWithoutFlags
        ? nothingEvaluated
        : await evaluator.evaluate(served, named(request), { onlySurveys })
      const { bytes, from, to } = tell(served, address, request, evaluation, ownRoom)
      return bytes.subarray(from, to)
    },
    atOnce(address, headers, body, room) {
      const request = readEvaluationRequest(body, headers)
      const { token } = request
      const served = token === undefined || !isAsking(request) ? undefined : snapshots.known(token)
      if (served === undefined || request.isWithoutFlags) return undefined
      const evaluation = evaluator.evaluateAtOnce(served, request as Asking)
      return evaluation && tell(served, address, request, evaluation, room)
    },
  }
}

const nothingEvaluated: Evaluation = {
  eligible: [],
  outcomes: { outcomeIndex: () => -1 },
  subject: { distinctId: '' },
  isIncomplete: false,
}

function named(request: EvaluationRequest): Asking {
  if (isAsking(request)) return request
  throw invalid('distinct_id', 'required', 'Send a distinct_id: a text that is not empty, or a number.')
}
