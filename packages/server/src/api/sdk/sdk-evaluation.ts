import type { EligibleOptions } from '../../evaluation/eligible-flags.ts'
import { type Evaluation, type Evaluator, hasDistinctId } from '../../evaluation/evaluator.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Overridden, OverridesStatus, RequestOverrides } from '../../evaluation/request-overrides.ts'
import type { Headers } from '../../evaluation/request-runtime.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import { type EvaluationRequest, readEvaluationRequest } from '../../evaluation/subjects/evaluation-request.ts'
import type { IdentifiedRequest } from '../../evaluation/subjects/gather-subject.ts'
import { compressRest } from '../../http/server/compression.ts'
import { type GzippedRest, gzipJoin } from '../../http/server/gzip-join.ts'
import { invalid, Problem } from '../../problem.ts'
import type { EvaluationCounts } from './evaluation-counts.ts'
import { type EvaluationUrl, isTrue } from './evaluation-url.ts'
import { createGzippedResponses } from './gzipped-responses.ts'
import { createConfigSerializer } from './remote-config.ts'
import { createResponseMemory } from './response-memory.ts'
import { createFlagsSerializer, responseHead } from './serialize-flags-response.ts'

/** Evaluates flags for SDKs, at `/flags/` and `/decide/`. */
export interface SdkEvaluation {
  /** Synchronous when everything is in memory. Raises, or rejects with, `unauthenticated`, `invalid`, `unavailable`. */
  evaluate(url: EvaluationUrl, headers: Headers, body: unknown): SdkResult | Promise<SdkResult>
  /** The JSON of the response. */
  serialize(url: EvaluationUrl, result: SdkResult, requestId: string): Buffer
  /** The same with gzip, faster when others got the same values. Undefined when it is too small or too large for that. */
  serializeGzip(url: EvaluationUrl, result: SdkResult, requestId: string): Buffer | undefined
  /** Uses the memory of the JSON again; to be called once it has been sent or compressed. */
  release(json: Buffer): void
}

export interface SdkResult {
  readonly served: ServedProject
  readonly evaluation: Evaluation
  /** The client requested specific flags. */
  readonly hasKeys: boolean
  readonly overrides: OverridesStatus | undefined
}

interface Deps {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
  readonly counts: EvaluationCounts
  readonly overrides: RequestOverrides
  readonly now?: () => number
}

export function createSdkEvaluation({ snapshots, evaluator, counts, overrides, now = Date.now }: Deps): SdkEvaluation {
  const serializeConfig = createConfigSerializer()
  const memory = createResponseMemory()
  const serializeFlags = createFlagsSerializer(memory.take)
  const gzipped = createGzippedResponses()

  function inSeconds<Result>(work: () => Result): Result {
    const begun = performance.now()
    const result = work()
    counts.addSeconds((performance.now() - begun) / 1000)
    return result
  }

  function toJson({ config, shape }: EvaluationUrl, { evaluation, hasKeys, served }: SdkResult, head: string): Buffer {
    const envelope = {
      head,
      hasErrors: evaluation.isIncomplete,
      config: config === 'none' ? undefined : serializeConfig(served, config),
      hasPayloadMap: hasKeys,
    }
    const { eligible, outcomes } = evaluation
    return serializeFlags(served.snapshot.flags, outcomes, eligible, shape, envelope)
  }

  function compressed(json: Buffer): GzippedRest | undefined {
    const rest = compressRest(json)
    memory.release(json)
    return rest
  }

  function resultOf({ served, overrides: status }: Overridden, evaluation: Evaluation, hasKeys: boolean): SdkResult {
    if (status !== 'applied') counts.add(evaluation.eligible.length)
    return { served, overrides: status, evaluation, hasKeys }
  }

  function evaluateIn(
    served: ServedProject | undefined,
    request: EvaluationRequest,
    headers: Headers,
    options: EligibleOptions | undefined,
  ): SdkResult | Promise<SdkResult> {
    if (!served) throw new Problem('unauthenticated', 'No project has this token.')
    const target = overrides.apply(served, headers)
    const hasKeys = request.keys !== undefined
    if (request.isWithoutFlags) return resultOf(target, emptyEvaluation, hasKeys)
    const begun = performance.now()
    const evaluation = evaluator.evaluate(target.served, withDistinctId(request), options)
    if (evaluation instanceof Promise) return evaluation.then(done => resultOf(target, done, hasKeys))
    counts.addSeconds((performance.now() - begun) / 1000)
    return resultOf(target, evaluation, hasKeys)
  }

  return {
    evaluate({ query }, headers, body) {
      const request = readEvaluationRequest(body, headers)
      const token = request.token ?? query.token ?? query.api_key
      if (token === undefined) throw new Problem('unauthenticated', 'Send the project token as "token" or "api_key".')
      const options = isTrue(query.only_evaluate_survey_feature_flags) ? { onlySurveys: true } : undefined
      const served = snapshots.cached(token)
      return served
        ? evaluateIn(served, request, headers, options)
        : snapshots.forToken(token).then(loaded => evaluateIn(loaded, request, headers, options))
    },
    serialize: (url, result, requestId) => inSeconds(() => toJson(url, result, responseHead(requestId, now()))),
    serializeGzip: (url, result, requestId) =>
      inSeconds(() => {
        const rest = gzipped.get(url, result, () => compressed(toJson(url, result, '')))
        return rest && gzipJoin(Buffer.from(responseHead(requestId, now()), 'latin1'), rest)
      }),
    release: memory.release,
  }
}

const emptyEvaluation: Evaluation = {
  eligible: [],
  outcomes: { outcomeIndex: () => -1 },
  subject: { distinctId: '' },
  isIncomplete: false,
}

function withDistinctId(request: EvaluationRequest): IdentifiedRequest {
  if (hasDistinctId(request)) return request
  throw invalid('distinct_id', 'required', 'Send a distinct_id: a string or a number.')
}
