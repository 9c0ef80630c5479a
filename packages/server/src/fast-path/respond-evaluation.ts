import type { EvaluationCounts } from '../api/sdk/evaluation-counts.ts'
import { createToldConfigs } from '../api/sdk/remote-config.ts'
import { createRequestIds } from '../api/sdk/request-ids.ts'
import { type Envelope, serializeFlagsResponse } from '../api/sdk/serialize-flags-response.ts'
import { type Evaluation, type Evaluator, isAsking } from '../evaluation/evaluator.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import type { Headers } from '../evaluation/request-runtime.ts'
import type { Snapshots } from '../evaluation/snapshots.ts'
import { type EvaluationRequest, readEvaluationRequest } from '../evaluation/subjects/evaluation-request.ts'
import type { Asking } from '../evaluation/subjects/gather-subject.ts'
import { invalid, Problem } from '../problem.ts'
import { type EvaluationUrl, isTrue } from './evaluation-url.ts'
import { bodyFrom, type ResponseBody } from './fast-response.ts'
import { createFlagsResponseTemplates } from './flags-response-template.ts'
import { type ResponseBuffer, unpooledBuffer } from './response-buffer.ts'

/** Answers requests to evaluate, as the client libraries make them. */
export interface RespondEvaluation {
  /** The JSON to answer with. Raises `unauthenticated`, `invalid`, `unavailable`. */
  whenReady(address: EvaluationUrl, headers: Headers, body: unknown): Promise<Buffer>
  /** The same in a room, if it takes nothing that is not in memory; else undefined. */
  atOnce(address: EvaluationUrl, headers: Headers, body: unknown, room: ResponseBuffer): ResponseBody | undefined
}

interface Deps {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
  readonly counts: EvaluationCounts
  readonly now?: () => number
}

export function createRespondEvaluation({ snapshots, evaluator, counts, now = Date.now }: Deps): RespondEvaluation {
  const fastAnswers = createFlagsResponseTemplates()
  const toldConfigs = createToldConfigs()
  const nextId = createRequestIds()

  /** Most answers are copied from prepared pieces. */
  function tell(
    served: ServedProject,
    { shape, config }: EvaluationUrl,
    { keys }: EvaluationRequest,
    { outcomes, eligible, isIncomplete }: Evaluation,
    room: ResponseBuffer,
  ): ResponseBody {
    counts.add(eligible.length)
    const envelope: Envelope = {
      requestId: nextId(),
      evaluatedAt: now(),
      hasErrors: isIncomplete,
      config: config === 'none' ? undefined : toldConfigs(served, config),
      hasPayloadMap: keys !== undefined,
    }
    if (shape === 'details' && keys === undefined) return fastAnswers(served)(outcomes, eligible, envelope, room)
    const answer = serializeFlagsResponse(served.snapshot.flags, outcomes, eligible, shape, envelope)
    return bodyFrom(room, Buffer.from(JSON.stringify(answer)))
  }

  async function projectOf(request: EvaluationRequest, query: EvaluationUrl['query']): Promise<ServedProject> {
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
      const { bytes, from, to } = tell(served, address, request, evaluation, unpooledBuffer)
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
