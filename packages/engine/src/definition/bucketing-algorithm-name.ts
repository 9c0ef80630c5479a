/** How the services that flags are imported from assign people to rollouts and variants. */
export const bucketingAlgorithmNames = [
  'posthog',
  'launchdarkly',
  'unleash',
  'growthbook_v1',
  'growthbook_v2',
  'flagsmith',
  'flagd',
  'go_feature_flag',
  'flipt',
  'configcat',
] as const

export type BucketingAlgorithmName = (typeof bucketingAlgorithmNames)[number]
