import { foundation } from './0001-foundation.ts'
import { persons } from './0002-persons.ts'
import { cohorts } from './0003-cohorts.ts'
import { flagActions } from './0004-flag-actions.ts'
import { receivedBatches } from './0011-received-batches.ts'
import { signInFailures } from './0012-sign-in-failures.ts'
import { access } from './0013-access.ts'
import { foldCase } from './0014-fold-case.ts'
import { tokenOverlap } from './0030-token-overlap.ts'
import { approvals } from './change-control/0020-approvals.ts'
import { archivedFlags } from './change-control/0021-archived-flags.ts'
import { environments } from './change-control/0022-environments.ts'
import { freezes } from './change-control/0023-freezes.ts'
import { recurringSchedules } from './change-control/0031-recurring-schedules.ts'
import { approvalLimits } from './change-control/0032-approval-limits.ts'
import { webhooks } from './change-control/0033-webhooks.ts'
import { emails } from './change-control/0034-emails.ts'
import { webhookQueues } from './change-control/0052-webhook-queues.ts'
import { definitions } from './events/0037-definitions.ts'
import { sdkUsage } from './events/0038-sdk-usage.ts'
import { shadowDays } from './events/0050-shadow-days.ts'
import { personSeen } from './events/0053-person-seen.ts'
import { shadowFailures } from './events/0054-shadow-failures.ts'
import { flagDetails } from './flags/0036-flag-details.ts'
import { savedViews } from './flags/0040-saved-views.ts'
import { payloadSchemas } from './flags/0042-payload-schemas.ts'
import { codeReferences } from './flags/0046-code-references.ts'
import { signIns } from './identity/0039-sign-ins.ts'
import { emailPreferences } from './identity/0047-email-preferences.ts'
import { importPlans } from './imports/0044-import-plans.ts'
import { importLinks } from './imports/0045-import-links.ts'
import { importCertificates } from './imports/0049-import-certificates.ts'
import { importTargets } from './imports/0051-import-targets.ts'
import type { Migration } from './migration.ts'
import { plugins } from './plugins/0010-plugins.ts'
import { pluginReleases } from './plugins/0015-plugin-releases.ts'
import { releaseFiles } from './plugins/0016-release-files.ts'

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
]
