import { openFeatureResult } from '@halyard/engine'
import type { Evaluation } from '../../evaluation/evaluator.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { RequestSpan } from '../../observability/telemetry/tracing.ts'

/** As many events as a span may have by default in OpenTelemetry's SDKs. */
const evaluationsMax = 128

/** Adds an event for each evaluated flag to the span of the request, by OpenTelemetry's semantic conventions. */
export function traceEvaluation(
  span: RequestSpan | undefined,
  served: ServedProject,
  { eligible, outcomes, subject }: Evaluation,
): void {
  if (!span?.isRecording) return
  const { flags } = served.snapshot
  for (const index of eligible.slice(0, evaluationsMax)) {
    const flag = flags[index]!
    const outcome = flag.outcomes[outcomes.outcomeIndex(index)]
    if (!outcome) continue
    span.addEvaluation({
      key: flag.key,
      variant: outcome.variant ?? String(outcome.enabled),
      reason: outcome.failed ? 'error' : openFeatureResult(flag, outcome).reason.toLowerCase(),
      version: String(flag.version ?? 1),
      contextId: subject.distinctId,
      setId: String(served.project.id),
    })
  }
}
