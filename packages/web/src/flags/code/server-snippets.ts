import { doubleQuoted as d, pythonQuoted as p, singleQuoted as s } from './quote.ts'
import { lines, type Snippet, type SnippetContext } from './snippet.ts'

export function serverSnippets(context: SnippetContext): Snippet[] {
  return [python(context), go(context), ruby(context), php(context), java(context), dotnet(context)]
}

function python({ flag, host, token }: SnippetContext): Snippet {
  const key = p(flag.key)
  const groups = flag.groupType === undefined ? '' : `, groups={${p(flag.groupType)}: "acme"}`
  const cases = flag.variants.map(variant => `    case ${p(variant)}:\n        ...`)
  return {
    name: 'Python',
    guide: 'python',
    install: 'pip install posthog',
    syntax: 'python',
    code: lines(
      0,
      `from posthog import Posthog

client = Posthog(${p(token)}, host=${p(host)})

flags = client.evaluate_flags("user-1"${groups})`,
      cases.length > 0
        ? `match flags.get_flag(${key}):\n${cases.join('\n')}\n    case _:\n        ...  # off`
        : `if flags.is_enabled(${key}):\n    ...  # on\nelse:\n    ...  # off`,
      flag.hasPayload ? `payload = flags.get_flag_payload(${key})` : undefined,
      '\nclient.shutdown()',
    ),
  }
}

function go({ flag, host, token }: SnippetContext): Snippet {
  const key = d(flag.key)
  const groups =
    flag.groupType === undefined ? undefined : `\t\tGroups:     posthog.NewGroups().Set(${d(flag.groupType)}, "acme"),`
  const cases = flag.variants.map(variant => `\tcase ${d(variant)}:`)
  return {
    name: 'Go',
    guide: 'go',
    install: 'go get github.com/posthog/posthog-go',
    syntax: 'c-like',
    code: lines(
      0,
      `package main

import (
\t"log"

\t"github.com/posthog/posthog-go"
)

func main() {
\tclient, err := posthog.NewWithConfig(${d(token)}, posthog.Config{Endpoint: ${d(host)}})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tdefer client.Close()

\tflags, err := client.EvaluateFlags(posthog.EvaluateFlagsPayload{
\t\tDistinctId: "user-1",`,
      groups,
      `\t})
\tif err != nil {
\t\tlog.Fatal(err)
\t}`,
      cases.length > 0
        ? `\tswitch flags.GetFlag(${key}) {\n${cases.join('\n')}\n\tdefault: // off\n\t}`
        : `\tif flags.IsEnabled(${key}) {\n\t\t// on\n\t} else {\n\t\t// off\n\t}`,
      flag.hasPayload ? `\tlog.Println(flags.GetFlagPayload(${key}))` : undefined,
      '}',
    ),
  }
}

function ruby({ flag, host, token }: SnippetContext): Snippet {
  const key = s(flag.key)
  const groups = flag.groupType === undefined ? '' : `, groups: { ${s(flag.groupType)} => 'acme' }`
  const cases = flag.variants.map(variant => `when ${s(variant)}`)
  return {
    name: 'Ruby',
    guide: 'ruby',
    install: 'gem install posthog-ruby',
    syntax: 'ruby',
    code: lines(
      0,
      `require 'posthog'

client = PostHog::Client.new(api_key: ${s(token)}, host: ${s(host)})

flags = client.evaluate_flags('user-1'${groups})`,
      cases.length > 0
        ? `case flags.get_flag(${key})\n${cases.join('\n')}\nelse # off\nend`
        : `if flags.enabled?(${key})\n  # on\nelse\n  # off\nend`,
      flag.hasPayload ? `payload = flags.get_flag_payload(${key})` : undefined,
      '\nclient.shutdown',
    ),
  }
}

function php({ flag, host, token }: SnippetContext): Snippet {
  const key = s(flag.key)
  const groups = flag.groupType === undefined ? '' : `, groups: [${s(flag.groupType)} => 'acme']`
  const cases = flag.variants.map(variant => `    case ${s(variant)}:\n        break;`)
  return {
    name: 'PHP',
    guide: 'php',
    install: 'composer require posthog/posthog-php',
    syntax: 'php',
    code: lines(
      0,
      `<?php

require __DIR__ . '/vendor/autoload.php';

use PostHog\\PostHog;

PostHog::init(${s(token)}, ['host' => ${s(host)}]);

$flags = PostHog::evaluateFlags('user-1'${groups});`,
      cases.length > 0
        ? `switch ($flags->getFlag(${key})) {\n${cases.join('\n')}\n    default: // off\n}`
        : `if ($flags->isEnabled(${key})) {\n    // on\n} else {\n    // off\n}`,
      flag.hasPayload ? `$payload = $flags->getFlagPayload(${key});` : undefined,
      '\nPostHog::flush();',
    ),
  }
}

function java({ flag, host, token }: SnippetContext): Snippet {
  const key = d(flag.key)
  const group = flag.groupType === undefined ? '' : `.group(${d(flag.groupType)}, "acme")`
  const cases = flag.variants.map(variant => `      case ${d(variant)}:\n        break;`)
  return {
    name: 'Java',
    guide: 'java',
    install: 'implementation("com.posthog:posthog-server:2.14.2")',
    syntax: 'c-like',
    code: lines(
      0,
      `import com.posthog.server.PostHog;
import com.posthog.server.PostHogConfig;
import com.posthog.server.PostHogEvaluateFlagsOptions;
import com.posthog.server.PostHogFeatureFlagEvaluations;
import com.posthog.server.PostHogInterface;

public class Feature {
  public static void main(String[] arguments) {
    PostHogConfig config = PostHogConfig.builder(${d(token)}).host(${d(host)}).build();
    PostHogInterface client = PostHog.with(config);

    PostHogFeatureFlagEvaluations flags =
        client.evaluateFlags("user-1", PostHogEvaluateFlagsOptions.builder()${group}.build());`,
      cases.length > 0
        ? `    switch (String.valueOf(flags.getFlag(${key}))) {\n${cases.join('\n')}\n      default: // off\n    }`
        : `    if (flags.isEnabled(${key})) {\n      // on\n    } else {\n      // off\n    }`,
      flag.hasPayload ? `    Object payload = flags.getFlagPayload(${key});` : undefined,
      `
    client.close();
  }
}`,
    ),
  }
}

function dotnet({ flag, host, token }: SnippetContext): Snippet {
  const key = d(flag.key)
  const cases = flag.variants.map(variant => `    case ${d(variant)}:\n        break;`)
  return {
    name: '.NET',
    guide: 'dotnet',
    install: 'dotnet add package PostHog',
    syntax: 'c-like',
    code: lines(
      0,
      `using PostHog;

await using var client = new PostHogClient(new PostHogOptions
{
    ProjectToken = ${d(token)},
    HostUrl = new Uri(${d(host)}),
});

var flags = await client.EvaluateFlagsAsync("user-1", new AllFeatureFlagsOptions());`,
      cases.length > 0
        ? `switch (flags.GetFlag(${key})?.VariantKey)\n{\n${cases.join('\n')}\n    default: // off\n        break;\n}`
        : `if (flags.IsEnabled(${key}))\n{\n    // on\n}\nelse\n{\n    // off\n}`,
      flag.hasPayload ? `var payload = flags.GetFlag(${key})?.Payload;` : undefined,
    ),
  }
}
