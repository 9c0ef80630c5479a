import { doubleQuoted as d, interpolated } from './quote.ts'
import { lines, type Snippet, type SnippetContext } from './snippet.ts'

export const mobileSnippets = (context: SnippetContext): Snippet[] => [ios(context), android(context), flutter(context)]

function ios({ flag, host, token }: SnippetContext): Snippet {
  const key = d(flag.key)
  const cases = flag.variants.map(variant => `        case ${d(variant)}:\n            break`)
  const needsResult = cases.length > 0 || flag.hasPayload
  return {
    name: 'iOS',
    guide: 'ios',
    install: 'https://github.com/PostHog/posthog-ios',
    syntax: 'c-like',
    code: lines(
      0,
      `import PostHog
import SwiftUI

@main
struct ShopApp: App {
    init() {
        let config = PostHogConfig(projectToken: ${d(token)}, host: ${d(host)})
        PostHogSDK.shared.setup(config)
    }

    var body: some Scene {
        WindowGroup {
            Text("…")
                .onReceive(NotificationCenter.default.publisher(for: PostHogSDK.didReceiveFeatureFlags)) { _ in
                    show()
                }
        }
    }

    func show() {`,
      needsResult ? `        let result = PostHogSDK.shared.getFeatureFlagResult(${key})` : undefined,
      cases.length > 0
        ? `        switch result?.variant {\n${cases.join('\n')}\n        default:\n            break // off\n        }`
        : `        if PostHogSDK.shared.isFeatureEnabled(${key}) {\n            // on\n        } else {\n            // off\n        }`,
      flag.hasPayload ? '        print(result?.payload ?? "")' : undefined,
      '    }\n}',
    ),
  }
}

function android({ flag, host, token }: SnippetContext): Snippet {
  const key = interpolated(flag.key)
  const cases = flag.variants.map(variant => `                    ${interpolated(variant)} -> {}`)
  const needsResult = cases.length > 0 || flag.hasPayload
  return {
    name: 'Android',
    guide: 'android',
    install: 'implementation("com.posthog:posthog-android:3.60.4")',
    syntax: 'c-like',
    code: lines(
      0,
      `import android.app.Application
import com.posthog.PostHogOnFeatureFlags
import com.posthog.PostHog
import com.posthog.android.PostHogAndroid
import com.posthog.android.PostHogAndroidConfig

class ShopApplication : Application() {
    override fun onCreate() {
        super.onCreate()
        val config = PostHogAndroidConfig(apiKey = ${interpolated(token)}, host = ${interpolated(host)}).apply {
            onFeatureFlags = PostHogOnFeatureFlags {`,
      needsResult ? `                val result = PostHog.getFeatureFlagResult(${key})` : undefined,
      cases.length > 0
        ? `                when (result?.variant) {\n${cases.join('\n')}\n                    else -> {} // off\n                }`
        : `                if (PostHog.isFeatureEnabled(${key})) {\n                    // on\n                } else {\n                    // off\n                }`,
      flag.hasPayload ? '                val payload = result?.payload' : undefined,
      `            }
        }
        PostHogAndroid.setup(this, config)
    }
}`,
    ),
  }
}

function flutter({ flag, host, token }: SnippetContext): Snippet {
  const key = interpolated(flag.key)
  const cases = flag.variants.map(variant => `        case ${interpolated(variant)}:\n          break;`)
  const needsResult = cases.length > 0 || flag.hasPayload
  return {
    name: 'Flutter',
    guide: 'flutter',
    install: 'flutter pub add posthog_flutter',
    syntax: 'c-like',
    code: lines(
      0,
      `import 'package:flutter/material.dart';
import 'package:posthog_flutter/posthog_flutter.dart';

Future<void> main() async {
  WidgetsFlutterBinding.ensureInitialized();
  final config = PostHogConfig(${interpolated(token)})
    ..host = ${interpolated(host)}
    ..onFeatureFlags = () async {`,
      needsResult ? `      final result = await Posthog().getFeatureFlagResult(${key});` : undefined,
      cases.length > 0
        ? `      switch (result?.variant) {\n${cases.join('\n')}\n        default: // off\n      }`
        : `      if (await Posthog().isFeatureEnabled(${key})) {\n        // on\n      } else {\n        // off\n      }`,
      flag.hasPayload ? '      final payload = result?.payload;' : undefined,
      `    };
  await Posthog().setup(config);
}`,
    ),
  }
}
