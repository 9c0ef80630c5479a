import { foundation } from './0001-foundation.ts'
import { persons } from './0002-persons.ts'
import { cohorts } from './0003-cohorts.ts'
import { flagActions } from './0004-flag-actions.ts'
import { plugins } from './0010-plugins.ts'
import { receivedBatches } from './0011-received-batches.ts'
import { signInFailures } from './0012-sign-in-failures.ts'
import { access } from './0013-access.ts'
import { foldCase } from './0014-fold-case.ts'
import { pluginReleases } from './0015-plugin-releases.ts'
import { releaseFiles } from './0016-release-files.ts'
import { approvals } from './0020-approvals.ts'
import { archivedFlags } from './0021-archived-flags.ts'
import { environments } from './0022-environments.ts'
import { freezes } from './0023-freezes.ts'
import { tokenOverlap } from './0030-token-overlap.ts'
import { recurringSchedules } from './0031-recurring-schedules.ts'
import { approvalLimits } from './0032-approval-limits.ts'
import { webhooks } from './0033-webhooks.ts'
import { emails } from './0034-emails.ts'
import { flagDetails } from './0036-flag-details.ts'
import { definitions } from './0037-definitions.ts'
import { sdkUsage } from './0038-sdk-usage.ts'
import { signIns } from './0039-sign-ins.ts'
import { savedViews } from './0040-saved-views.ts'
import { payloadSchemas } from './0042-payload-schemas.ts'
import { importPlans } from './0044-import-plans.ts'
import { importLinks } from './0045-import-links.ts'
import { codeReferences } from './0046-code-references.ts'
import { emailPreferences } from './0047-email-preferences.ts'
import { importCertificates } from './0049-import-certificates.ts'
import { shadowDays } from './0050-shadow-days.ts'
import { importTargets } from './0051-import-targets.ts'
import { webhookQueues } from './0052-webhook-queues.ts'
import { personSeen } from './0053-person-seen.ts'
import { shadowFailures } from './0054-shadow-failures.ts'
import { secondFactors } from './0055-second-factors.ts'
import { singleSignOn } from './0060-single-sign-on.ts'
import { auditLog } from './0064-audit-log.ts'
import { tokenExchange } from './0066-token-exchange.ts'
import { rights } from './0067-rights.ts'
import { requestComments } from './0071-request-comments.ts'
import { provisioning } from './0072-provisioning.ts'
import { inboxSeen } from './0073-inbox-seen.ts'
import { auditWebhooks } from './0076-audit-webhooks.ts'
import { eventBacklog } from './0080-event-backlog.ts'
import { behavior } from './0085-behavior.ts'
import { behaviorKeys } from './0086-behavior-keys.ts'
import { instanceAge } from './0087-instance-age.ts'
import { behaviorHistory } from './0088-behavior-history.ts'
import { eventDayUpdates } from './0089-event-day-updates.ts'
import type { Migration } from './migration.ts'

/** The one list, in order. Append only. */
export const migrations: readonly Migration[] = [
  foundation,
  persons,
  cohorts,
  flagActions,
  plugins,
  receivedBatches,
  signInFailures,
  access,
  foldCase,
  pluginReleases,
  releaseFiles,
  approvals,
  archivedFlags,
  environments,
  freezes,
  tokenOverlap,
  recurringSchedules,
  approvalLimits,
  webhooks,
  emails,
  flagDetails,
  definitions,
  sdkUsage,
  signIns,
  savedViews,
  payloadSchemas,
  importPlans,
  importLinks,
  codeReferences,
  emailPreferences,
  importCertificates,
  shadowDays,
  importTargets,
  webhookQueues,
  personSeen,
  shadowFailures,
  secondFactors,
  singleSignOn,
  auditLog,
  tokenExchange,
  rights,
  requestComments,
  provisioning,
  inboxSeen,
  auditWebhooks,
  eventBacklog,
  behavior,
  behaviorKeys,
  instanceAge,
  behaviorHistory,
  eventDayUpdates,
]
