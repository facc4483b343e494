import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.logging.LogManager;

public final class Lettuce {
    public static void main(String[] words) throws InterruptedException {
        // Otherwise it logs each reconnection.
        LogManager.getLogManager().reset();
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(words[0])));
        RedisCommands<String, String> commands = client.connect().sync();
        TakeIds.run(() -> commands.incr(words[1]), Integer.parseInt(words[2]));
        client.shutdown();
    }
}
